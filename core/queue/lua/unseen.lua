#!lua flags=no-writes
-- Which ids a run has not seen.
-- KEYS   the frontier's, then the run's seen keys (include/seen.lua)
-- ARGV   the one run's dedupe memory, then the ids (≤ 500)
-- reply  those not seen
-- include seen
expect('hash', RUNS)
local at = read_seen(1)
local ids = {}
for i = at, #ARGV do
  check_id(ARGV[i])
  ids[#ids + 1] = ARGV[i]
end
if ARGV[1] ~= '1' or #ids > 500 then
  refuse('unseen takes one run and up to 500 ids, got ' .. #ids)
end
local fresh = unseen_of(seen_of[ARGV[2]], ids)
local reply = {}
for _, id in ipairs(ids) do
  if fresh[id] then
    reply[#reply + 1] = id
  end
end
return reply
