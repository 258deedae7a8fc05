#!lua flags=allow-oom
-- Cancels what waits, whichever run it belongs to: first what waits for a retry, then what is pending. What is in work stays.
-- KEYS   the frontier's
-- ARGV   how many at most (≤ 300)
-- reply  how many were cancelled, how many still wait
-- repeat takes the next ones
-- writes for each task its index, TASKS; hosts, counts
-- include end-open
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DELAYED)
if #ARGV ~= 1 then
  refuse('purge takes 1 argument, got ' .. #ARGV)
end
local most = integer(ARGV[1], 'most', 1, 300)
local refs = redis.call('ZRANGE', DELAYED, 0, most - 1)
for _, member in ipairs(#refs < most and redis.call('ZRANGE', PENDING, 0, most - #refs - 1) or {}) do
  refs[#refs + 1] = member:match('([^%z]+)$')
end
local many = 0
for _, ref in ipairs(refs) do
  local task = load_task(ref)
  if task then
    end_open(ref, task, 'cancelled')
    many = many + 1
  end
end
settle_hosts()
save_counts()
save_seq()
return { many, redis.call('ZCARD', PENDING) + redis.call('ZCARD', DELAYED) }
