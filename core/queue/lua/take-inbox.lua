#!lua
-- Takes entries off the head of the inbox and admits what they ask for, all at once.
-- KEYS   the frontier's, then the seen keys of the runs (include/seen.lua)
-- ARGV   the runs' dedupe memory, number of entries (≤ 500), the entries, number of rejected, those as JSON, then for
--        each run, in the order of the memory: number of tasks (≤ 500 over all) and id, host, priority, body of each
-- reply  1, or 0 with nothing changed when the head of the inbox is another by now
-- repeat the head is another by then; if it is equal text, its tasks are duplicates
-- writes seen, TASKS, PENDING, REJECTED, INBOX last; hosts, counts
-- include admission
-- include dead
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE)
expect('list', INBOX, REJECTED)
local at = read_seen(1)
local entries = integer(ARGV[at], 'number of entries', 1, MOST)
local head = redis.call('LRANGE', INBOX, 0, entries - 1)
for i = 1, entries do
  if not ARGV[at + i] then
    refuse('take-inbox was promised ' .. entries .. ' entries')
  end
end
local entry_at = at
at = at + entries + 1
local rejected = {}
for i = 1, integer(ARGV[at], 'number of rejected', 0, MOST) do
  rejected[i] = ARGV[at + i] or refuse('a rejected entry is missing')
end
at = at + #rejected + 1
local batches, many = {}, 0
for i = 1, tonumber(ARGV[1]) do
  local run = ARGV[8 * i - 6]
  local found = run_of(run)
  if not found or found.state ~= 'open' then
    error({ err = 'CLOSED run ' .. run .. ' is not open: open it before anything is admitted to it' })
  end
  local of_it = integer(ARGV[at], 'number of tasks', 0, MOST)
  many = many + of_it
  if many > MOST then
    refuse('take-inbox takes ' .. MOST .. ' tasks at most')
  end
  batches[i] = { run = run }
  batches[i].tasks, at = read_tasks(at + 1, of_it)
end
if #ARGV ~= at - 1 then
  refuse('expected ' .. at - 1 .. ' arguments, got ' .. #ARGV)
end
for i = 1, entries do
  if head[i] ~= ARGV[entry_at + i] then
    return 0
  end
end
for _, batch in ipairs(batches) do
  local plan = plan_admission(batch.run, batch.tasks)
  admit_planned(plan)
  for _, over in ipairs(plan.over) do
    rejected[#rejected + 1] = '{"entry":' .. cjson.encode(ARGV[over + 3]:match('^%d+\n([^\n]*)'))
      .. ',"reason":"the run has its maxPages, or the host its maxPagesPerHost","at":"' .. iso(now) .. '"}'
  end
end
if #rejected > 0 then
  tell(REJECTED, rejected)
end
redis.call('LPOP', INBOX, entries)
save_all()
return 1
