#!lua
-- Admits links of a page that is still held: for pages with more than one ack's worth of them, before the ack.
-- KEYS   the frontier's, then the run's seen keys (include/seen.lua)
-- ARGV   the one run's dedupe memory, ref, token, number of links (≤ 500), then id, host, priority, body of each
-- reply  OK or STALE
-- repeat what was admitted is a duplicate by then
-- writes seen, TASKS, PENDING, then hosts and counts
-- include admission
-- include held
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE)
local at = read_seen(1)
local ref, token = ARGV[at], ARGV[at + 1]
check_held(ref, token)
local many = integer(ARGV[at + 2], 'number of links', 0, MOST)
if ARGV[1] ~= '1' or ARGV[2] ~= run_in(ref) or #ARGV ~= at + 2 + many * FIELDS then
  refuse('add-links takes the run of the ref and its links, got ' .. #ARGV .. ' arguments')
end
local links = read_tasks(at + 3, many)
if not held(ref, token) then
  return 'STALE'
end
admit_planned(plan_admission(ARGV[2], links))
save_all()
return 'OK'
