#!lua flags=allow-oom
-- Nothing more from a host for some time (Retry-After), and the host's own delay (robots Crawl-delay).
-- KEYS   the frontier's
-- ARGV   host, ms to hold it from now (0: none), its own delay in ms ('' to leave it as it is, 0 to remove it)
-- reply  OK
-- repeat holds until the later of the two
-- writes the host alone
-- include hosts
expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 3 or ARGV[1] == '' or #ARGV[1] > 300 or ARGV[1]:find('[%c%s|%z]') then
  refuse('hold takes a host of 1 to 300 characters without blanks, controls and |, ms and delay')
end
local ms = integer(ARGV[2], 'ms', 0, 8640000000)
local own = ARGV[3] ~= '' and integer(ARGV[3], 'delay', 0, 86400000)
local host = touch(ARGV[1])
if ms > 0 then
  host.held_until = math.max(host.held_until, now + ms)
end
if own then
  host.own = own
end
settle_hosts()
save_seq()
return 'OK'
