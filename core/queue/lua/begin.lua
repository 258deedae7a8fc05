#!lua flags=allow-oom
-- Charges a delivery and starts the host's delay, right before the fetch.
-- KEYS   the frontier's
-- ARGV   a random number, then ref, token of each (≤ 500)
-- reply  OK or STALE for each
-- repeat a task that has begun is not charged again
-- writes TASKS, then hosts
-- include hosts
-- include held
expect('hash', TASKS, HOST, RUNS)
expect('zset', PENDING, READY, TURN, IDLE)
random = integer(ARGV[1], 'random', 0, 2147483646)
if #ARGV % 2 ~= 1 or #ARGV > 1001 then
  refuse('begin takes a random number and up to 500 pairs, got ' .. #ARGV .. ' arguments')
end
for i = 2, #ARGV, 2 do
  check_held(ARGV[i], ARGV[i + 1])
end
local reply = {}
for i = 2, #ARGV, 2 do
  local task = held(ARGV[i], ARGV[i + 1])
  if task and task.begun == '0' then
    task.begun = '1'
    task.deliveries = task.deliveries + 1
    save_task(ARGV[i], task)
    start_delay(touch(task.host))
  end
  reply[#reply + 1] = task and 'OK' or 'STALE'
end
settle_hosts()
save_seq()
return reply
