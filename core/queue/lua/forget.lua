#!lua flags=allow-oom
-- Drops what the queue keeps of a closed run: first its dead letters, then its seen keys, counts and record.
-- KEYS   the frontier's, then the seen keys that are the run's alone, and that of its hosts
-- ARGV   run
-- reply  1 when all is gone, 0 when there is more: call again
-- repeat goes on where it stopped
-- writes DEAD and TASKS, ≤ 500 a call; at the end the rest
-- include task
-- include counts
expect('hash', TASKS, RUNS, COUNTS)
expect('zset', DEAD)
if #ARGV ~= 1 then
  refuse('forget takes 1 argument, got ' .. #ARGV)
end
local run = ARGV[1]
integer(run, 'run', 0, 9007199254740991)
local found = run_of(run)
if not found then
  return 1
end
local open = redis.call('HMGET', COUNTS, run .. '.pending', run .. '.running', run .. '.retry')
if found.state == 'open' or tonumber(open[1] or 0) + tonumber(open[2] or 0) + tonumber(open[3] or 0) > 0 then
  refuse('run ' .. run .. ' is still open: finish or cancel it first')
end
local members = redis.call('ZRANGEBYLEX', DEAD, '[' .. run .. '\0', '(' .. run .. '\1', 'LIMIT', 0, 500)
for _, member in ipairs(members) do
  redis.call('ZREM', DEAD, member)
  redis.call('HDEL', TASKS, run .. ':' .. member:sub(-22))
end
-- The sums hold between two calls too.
count(run, 'failed', -#members)
count(run, 'cancelled', #members)
save_counts()
if #members == 500 then
  return 0
end
for i = FRONTIER + 1, #KEYS do
  redis.call('UNLINK', KEYS[i])
end
for _, state in ipairs({ 'admitted', 'pending', 'running', 'retry', 'done', 'failed', 'ignored', 'cancelled' }) do
  redis.call('HDEL', COUNTS, run .. '.' .. state)
end
redis.call('HDEL', RUNS, run)
return 1
