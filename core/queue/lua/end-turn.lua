#!lua flags=allow-oom
-- Gives a turn back: the host's delay counts from when it began; one that never began costs nothing.
-- KEYS   the frontier's
-- ARGV   host, a random number, the turn's end, when it began (0: never)
-- reply  OK, or STALE when the host has moved on
-- repeat STALE
-- writes the host alone
-- include hosts
expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 4 or ARGV[1] == '' or #ARGV[1] > 300 or ARGV[1]:find('[%c%s|%z]') then
  refuse('end-turn takes a host of 1 to 300 characters without blanks, controls and |, a number, a turn and its start')
end
random = integer(ARGV[2], 'random', 0, 2147483646)
local turn = integer(ARGV[3], 'turn', 1, 9007199254740991)
local began = integer(ARGV[4], 'start', 0, 9007199254740991)
local host = host_of(ARGV[1])
if host.next_at ~= turn then
  return 'STALE'
end
touch(ARGV[1])
host.next_at = 0
if began > 0 then
  start_delay(host, began)
end
settle_hosts()
save_seq()
return 'OK'
