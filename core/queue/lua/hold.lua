#!lua flags=allow-oom
-- Nothing more from a host for some time (Retry-After), the host's own delay (robots Crawl-delay), the delay that an operator
-- gave it instead of the queue's, and whether it said that it is asked too much. Under a shorter delay it is called forward at
-- once.
-- KEYS   the frontier's
-- ARGV   host, ms to hold it from now (0: none), its own delay in ms ('' to leave it as it is, 0 to remove it), the
--        operator's in ms ('' to leave it, -1 to remove it), 1 to slow it down (0: not)
-- reply  OK
-- repeat holds until the later of the two; slows down once in the length of its pace
-- writes the host alone
-- include hosts
expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 5 or ARGV[1] == '' or #ARGV[1] > 300 or ARGV[1]:find('[%c%s|%z]') then
  refuse('hold takes a host of 1 to 300 characters without blanks, controls and |, ms, two delays and 0 or 1')
end
local ms = integer(ARGV[2], 'ms', 0, 8640000000)
local own = ARGV[3] ~= '' and integer(ARGV[3], 'delay', 0, 86400000)
local rate = ARGV[4] ~= '' and integer(ARGV[4], 'rate', -1, 86400000)
local too_much = integer(ARGV[5], 'slow', 0, 1)
local host = touch(ARGV[1])
if too_much == 1 then
  slow_down(host)
end
if ms > 0 then
  host.held_until = math.max(host.held_until, now + ms)
end
if own then
  host.own = own
end
if rate then
  host.rate = rate >= 0 and rate or nil
  local longest = math.max(math.ceil(delay_of(host) * (1 + JITTER)), host.own)
  host.next_at = math.min(host.next_at, now + longest)
end
settle_hosts()
save_seq()
return 'OK'
