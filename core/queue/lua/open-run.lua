#!lua
-- Makes a run known; a finished one is opened again, as it was.
-- KEYS   the frontier's
-- ARGV   run, maxPages and maxPagesPerHost (0 for no cap), dedupe (a `@` in it becomes today's number of days since 1970, by Redis's clock)
-- reply  the run's record, `state|maxPages[.maxPagesPerHost]|dedupe`
-- repeat an open or cancelled run stays what it is
-- writes RUNS alone
-- include frontier
expect('hash', RUNS)
if #ARGV ~= 4 then
  refuse('open-run takes 4 arguments, got ' .. #ARGV)
end
integer(ARGV[1], 'run', 0, 9007199254740991)
local cap = integer(ARGV[2], 'maxPages', 0, 9007199254740991)
local share = integer(ARGV[3], 'maxPagesPerHost', 0, 9007199254740991)
if not ARGV[4]:find('^[%w.:@]+$') then
  refuse('dedupe must be letters, digits, dots and colons, got ' .. ARGV[4])
end
local text = redis.call('HGET', RUNS, ARGV[1])
if not text then
  text = 'open|' .. string.format('%.0f', cap) .. (share > 0 and string.format('.%.0f', share) or '') .. '|'
    .. ARGV[4]:gsub('@', math.floor(clock() / 86400000))
  redis.call('HSET', RUNS, ARGV[1], text)
elseif text:find('^finished|') then
  text = text:gsub('^finished', 'open')
  redis.call('HSET', RUNS, ARGV[1], text)
end
return text
