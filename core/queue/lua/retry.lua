#!lua flags=allow-oom
-- A passing failure: the task waits, then is pending again. Counts one attempt.
-- KEYS   the frontier's
-- ARGV   ref, token, delayMs
-- reply  OK, DONE_ALREADY or STALE
-- repeat DONE_ALREADY for a minute, STALE later; nothing changes either way
-- writes TASKS, LEASED, DELAYED, ACKED; host, counts
-- include hosts
-- include held
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DELAYED, ACKED)
if #ARGV ~= 3 then
  refuse('retry takes 3 arguments, got ' .. #ARGV)
end
local ref, token = ARGV[1], ARGV[2]
check_held(ref, token)
local delay = integer(ARGV[3], 'delayMs', 0, 8640000000)
local task = held(ref, token)
if not task then
  return said_already(token, 'retry') and 'DONE_ALREADY' or 'STALE'
end
local due = now + delay
task.state, task.token, task.begun, task.at, task.hard = 't', '0', '0', string.format('%.0f', due), '0'
task.attempts = task.attempts + 1
save_task(ref, task)
redis.call('ZREM', LEASED, ref)
redis.call('ZADD', DELAYED, due, ref)
remember(token, 'retry')
forget_said()
give_place_back(task.host)
move(run_in(ref), 'running', 'retry')
settle_hosts()
save_counts()
save_seq()
return 'OK'
