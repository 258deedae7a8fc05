#!lua
-- Admits tasks to a run.
-- KEYS   the frontier's, then the run's seen keys (include/seen.lua)
-- ARGV   the one run's dedupe memory (include/seen.lua), number of tasks (≤ 500), then id, host, priority, body of each
-- reply  admitted, duplicate, refused (over maxPages or its host's budget; all of them when the run is unknown, cancelled or finished)
-- repeat what was admitted is a duplicate by then
-- writes seen, TASKS, PENDING, then hosts and counts
-- include admission
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE)
local at = read_seen(1)
local run = ARGV[2]
local many = integer(ARGV[at], 'number of tasks', 0, MOST)
if ARGV[1] ~= '1' or #ARGV ~= at + many * FIELDS then
  refuse('admit takes one run and its tasks, got ' .. #ARGV .. ' arguments')
end
local plan = plan_admission(run, (read_tasks(at + 1, many)))
admit_planned(plan)
save_all()
return { #plan.tasks, plan.duplicate, plan.refused }
