#!lua flags=allow-oom
-- Renews leases, never past the hard limit set at claim.
-- KEYS   the frontier's
-- ARGV   leaseMs, then ref, token of each (≤ 500)
-- reply  the refs that are lost: held by another token, by nobody, or past the hard limit
-- repeat the same again, from a later now
-- writes LEASED alone
-- include held
expect('hash', TASKS, RUNS)
expect('zset', LEASED)
local lease_ms = integer(ARGV[1], 'leaseMs', 1, 86400000)
if #ARGV % 2 ~= 1 or #ARGV > 1001 then
  refuse('extend takes leaseMs and up to 500 pairs, got ' .. #ARGV .. ' arguments')
end
for i = 2, #ARGV, 2 do
  check_held(ARGV[i], ARGV[i + 1])
end
local lost = {}
for i = 2, #ARGV, 2 do
  local task = held(ARGV[i], ARGV[i + 1])
  if task and now < tonumber(task.hard) then
    redis.call('ZADD', LEASED, math.min(now + lease_ms, tonumber(task.hard)), ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
