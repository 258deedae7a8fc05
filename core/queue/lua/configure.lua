#!lua
-- Stores the live settings.
-- KEYS   the frontier's
-- ARGV   delayMs, perHost, maxRunning ('' for none), paused (0|1), draining (0|1), adaptive (0|1), the settings as JSON text
-- reply  the version they have from now on
-- repeat the same settings keep their version
-- writes META alone
-- include frontier
expect('hash', META)
if #ARGV ~= 7 then
  refuse('configure takes 7 arguments, got ' .. #ARGV)
end
local delay, per_host = integer(ARGV[1], 'delayMs', 0, 86400000), integer(ARGV[2], 'perHost', 1, 100000)
if ARGV[3] ~= '' then
  integer(ARGV[3], 'maxRunning', 0, 10000000)
end
local paused, draining = integer(ARGV[4], 'paused', 0, 1), integer(ARGV[5], 'draining', 0, 1)
local adaptive = integer(ARGV[6], 'adaptive', 0, 1)
if redis.call('HGET', META, 'settings') ~= ARGV[7] then
  redis.call('HSET', META, 'settings', ARGV[7], 'delayMs', delay, 'perHost', per_host, 'maxRunning', ARGV[3], 'paused', paused,
    'draining', draining, 'adaptive', adaptive)
  redis.call('HINCRBY', META, 'version', 1)
end
return tonumber(redis.call('HGET', META, 'version'))
