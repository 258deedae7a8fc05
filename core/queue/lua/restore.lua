#!lua
-- Marks URLs as seen and terminal without queueing them: rebuilds a run from the record after an epoch change.
-- KEYS   the frontier's, then the run's seen keys (include/seen.lua)
-- ARGV   the one run's dedupe memory, number of URLs (≤ 500), then state (done|failed|ignored) and id, host, priority,
--        body of each
-- reply  how many were new
-- repeat what is seen stays as it is
-- writes seen, then TASKS and DEAD of the failed (they can be re-driven), counts
-- include admission
expect('hash', TASKS, COUNTS, RUNS)
expect('zset', DEAD)
local at = read_seen(1)
local run = ARGV[2]
local many = integer(ARGV[at], 'number of URLs', 0, MOST)
if ARGV[1] ~= '1' or #ARGV ~= at + many * (FIELDS + 1) then
  refuse('restore takes one run and its URLs, got ' .. #ARGV .. ' arguments')
end
at = at + 1
local urls, ids = {}, {}
for _ = 1, many do
  local state = ARGV[at]
  if state ~= 'done' and state ~= 'failed' and state ~= 'ignored' then
    refuse('an outcome must be done, failed or ignored, got ' .. tostring(state))
  end
  local tasks
  tasks, at = read_tasks(at + 1, 1)
  local id = ARGV[tasks[1]]
  if not urls[id] then
    ids[#ids + 1] = id
    urls[id] = { state = state, task = tasks[1] }
  end
end
if not run_of(run) then
  refuse('run ' .. run .. ' is not known: open it first')
end
local fresh = unseen_of(seen_of[run], ids)
local new = {}
for _, id in ipairs(ids) do
  if fresh[id] then
    new[#new + 1] = id
  end
end
mark_seen(seen_of[run], new, fresh)
for _, id in ipairs(new) do
  local state, task = urls[id].state, urls[id].task
  if state == 'failed' then
    local ref = run .. ':' .. id
    local dead = {
      state = 'f', token = '0', deliveries = 0, attempts = 0, begun = '0', priority = ARGV[task + 2],
      order = string.format('%.0f', next_seq()), at = string.format('%.0f', now), hard = '0', host = ARGV[task + 1], body = ARGV[task + 3],
    }
    save_task(ref, dead)
    redis.call('ZADD', DEAD, 0, dead_member(ref, dead))
  end
  take_shares(run, { ARGV[task + 1] })
  count(run, 'admitted', 1)
  count(run, state, 1)
end
save_counts()
save_seq()
return #new
