#!lua flags=allow-oom
-- After a change of settings: hosts that wait longer than the delay now asks for wait that long only. What a host asked
-- for itself, by Retry-After, its own delay or its pace, and what an operator gave it, stays.
-- KEYS   the frontier's
-- ARGV   how many of the waiting hosts to pass over (those that earlier calls left as they were)
-- reply  hosts looked at (≤ 300), hosts left as they were
-- repeat what waits no longer than it must is left as it is
-- writes the hosts alone
-- include hosts
expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 1 then
  refuse('hasten takes 1 argument, got ' .. #ARGV)
end
local offset = integer(ARGV[1], 'offset', 0, 9007199254740991)
local longest = math.ceil(now + delay_ms * (1 + JITTER))
local names = redis.call('ZRANGEBYSCORE', TURN, '(' .. longest, '+inf', 'LIMIT', offset, 300)
local left = 0
for _, name in ipairs(names) do
  local host = host_of(name)
  local floor = math.ceil(now + delay_of(host) * (1 + JITTER))
  local next_at = math.min(host.next_at, math.max(floor, now + host.own))
  if math.max(next_at, host.held_until) < due(host) then
    host.next_at = next_at
    touch(name)
  else
    left = left + 1
  end
end
settle_hosts()
save_seq()
return { #names, left }
