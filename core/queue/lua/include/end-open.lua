-- include hosts
-- include counts
-- Takes a task that is not terminal out of its index and of the tasks; `to` is the state it is counted in from now on.
local OPEN = { p = 'pending', r = 'running', t = 'retry' }
local function end_open(ref, task, to)
  if task.state == 'p' then
    redis.call('ZREM', PENDING, pending_member(ref, task.host, task.priority, task.order))
    touch(task.host)
  elseif task.state == 'r' then
    redis.call('ZREM', LEASED, ref)
    give_place_back(task.host)
  else
    redis.call('ZREM', DELAYED, ref)
  end
  redis.call('HDEL', TASKS, ref)
  move(run_in(ref), OPEN[task.state], to)
end
