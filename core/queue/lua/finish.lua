#!lua flags=allow-oom
-- Closes a run if nothing of it is open. A page in work keeps its run open, so its links cannot come too late.
-- KEYS   the frontier's
-- ARGV   run
-- reply  1 when it is closed (finished, or cancelled with nothing left), else 0; 0 too for a run that is not known
-- repeat a closed run stays closed
-- writes RUNS alone
-- include counts
expect('hash', RUNS, COUNTS)
if #ARGV ~= 1 then
  refuse('finish takes 1 argument, got ' .. #ARGV)
end
local run = ARGV[1]
integer(run, 'run', 0, 9007199254740991)
local found = run_of(run)
if not found then
  return 0
end
for _, open in ipairs(redis.call('HMGET', COUNTS, run .. '.pending', run .. '.running', run .. '.retry')) do
  if open and tonumber(open) ~= 0 then
    return 0
  end
end
if found.state == 'open' then
  redis.call('HSET', RUNS, run, 'finished|' .. string.format('%.0f', found.cap) .. '|' .. found.dedupe)
end
return 1
