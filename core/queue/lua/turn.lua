#!lua flags=allow-oom
-- The next turn of a host for a fetch that belongs to no run. It is kept free from the moment it is asked for, or a busy
-- crawl would never leave one; it begins when its time has come and the host has room. Until it is given back, or `last` is
-- over, nothing else of the host is begun. Where the queue has no delay it gives way at its start: then it is one fetch more.
-- KEYS   the frontier's
-- ARGV   host, last: ms it may take at most, the longest wait in ms, the end of the turn that is kept so far ('' for none)
-- reply  ms to wait before asking again (0: it has begun), its end, when it began; an end of 0: the wait would be too long
-- repeat keeps the same turn
-- writes the host alone
-- include hosts
expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 4 or ARGV[1] == '' or #ARGV[1] > 300 or ARGV[1]:find('[%c%s|%z]') then
  refuse('turn takes a host of 1 to 300 characters without blanks, controls and |, two times and a turn')
end
local last = integer(ARGV[2], 'last', 1, 86400000)
local longest = integer(ARGV[3], 'longest', 0, 86400000)
local kept = ARGV[4] ~= '' and integer(ARGV[4], 'turn', 1, 9007199254740991)
local host = touch(ARGV[1])
local from = host.next_at
if kept and kept == from then
  from = kept - last
end
local start = math.max(from, host.held_until, now)
if start - now > longest then
  return { start - now, 0, 0 }
end
local wait = start - now
if wait == 0 and host.inflight >= limit(host) then
  wait = 50
end
host.next_at = start + last
local turn = host.next_at
if wait == 0 and limit(host) > 1 then
  host.next_at = now
  turn = now
end
settle_hosts()
save_seq()
return { wait, turn, wait == 0 and now or 0 }
