#!lua flags=allow-oom
-- Hands tasks back at once; a delivery that begin charged is given back too (drain).
-- KEYS   the frontier's
-- ARGV   ref, token of each (≤ 500)
-- reply  OK or STALE for each
-- repeat STALE, and nothing changes
-- writes TASKS, PENDING, LEASED; hosts, counts
-- include hosts
-- include held
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED)
if #ARGV % 2 ~= 0 or #ARGV > 1000 then
  refuse('release takes up to 500 pairs, got ' .. #ARGV .. ' arguments')
end
for i = 1, #ARGV, 2 do
  check_held(ARGV[i], ARGV[i + 1])
end
local reply = {}
for i = 1, #ARGV, 2 do
  local ref = ARGV[i]
  local task = held(ref, ARGV[i + 1])
  if task then
    if task.begun == '1' then
      task.deliveries = task.deliveries - 1
    end
    to_pending(ref, task)
    redis.call('ZREM', LEASED, ref)
    give_place_back(task.host)
    move(run_in(ref), 'running', 'pending')
  end
  reply[#reply + 1] = task and 'OK' or 'STALE'
end
settle_hosts()
save_counts()
save_seq()
return reply
