#!lua
-- Makes a run known; a finished one is opened again, as it was.
-- KEYS   the frontier's
-- ARGV   run, maxPages (0 for no cap), dedupe (a `@` in it becomes today's number of days since 1970, by Redis's clock)
-- reply  the run's record, `state|maxPages|dedupe`
-- repeat an open or cancelled run stays what it is
-- writes RUNS alone
-- include frontier
expect('hash', RUNS)
if #ARGV ~= 3 then
  refuse('open-run takes 3 arguments, got ' .. #ARGV)
end
integer(ARGV[1], 'run', 0, 9007199254740991)
local cap = integer(ARGV[2], 'maxPages', 0, 9007199254740991)
if not ARGV[3]:find('^[%w.:@]+$') then
  refuse('dedupe must be letters, digits, dots and colons, got ' .. ARGV[3])
end
local text = redis.call('HGET', RUNS, ARGV[1])
if not text then
  text = 'open|' .. string.format('%.0f', cap) .. '|' .. ARGV[3]:gsub('@', math.floor(clock() / 86400000))
  redis.call('HSET', RUNS, ARGV[1], text)
elseif text:find('^finished|') then
  text = text:gsub('^finished', 'open')
  redis.call('HSET', RUNS, ARGV[1], text)
end
return text
