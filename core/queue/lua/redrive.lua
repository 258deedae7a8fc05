#!lua
-- Puts dead letters back to pending with fresh budgets; a finished run is open again then.
-- KEYS   the frontier's
-- ARGV   run, then the refs (≤ 500; none: 100 of the run)
-- reply  how many
-- repeat what is pending is no dead letter any more
-- writes TASKS, PENDING, DEAD; RUNS; hosts, counts
-- include hosts
-- include counts
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, DEAD)
local run = ARGV[1]
integer(run, 'run', 0, 9007199254740991)
if #ARGV > 501 then
  refuse('redrive takes a run and up to 500 refs, got ' .. #ARGV .. ' arguments')
end
local refs = {}
for i = 2, #ARGV do
  check_ref(ARGV[i])
  refs[i - 1] = ARGV[i]
end
local found = run_of(run)
if not found or found.state == 'cancelled' then
  return 0
end
if #refs == 0 then
  for _, member in ipairs(redis.call('ZRANGEBYLEX', DEAD, '[' .. run .. '\0', '(' .. run .. '\1', 'LIMIT', 0, 100)) do
    refs[#refs + 1] = run .. ':' .. member:sub(-22)
  end
end
local many = 0
for _, ref in ipairs(refs) do
  local task = load_task(ref)
  if task and task.state == 'f' and run_in(ref) == run then
    local member = dead_member(ref, task)
    task.deliveries, task.attempts = 0, 0
    to_pending(ref, task)
    redis.call('ZREM', DEAD, member)
    move(run, 'failed', 'pending')
    many = many + 1
  end
end
if many > 0 and found.state == 'finished' then
  redis.call('HSET', RUNS, run, 'open|' .. string.format('%.0f', found.cap) .. '|' .. found.dedupe)
end
settle_hosts()
save_counts()
save_seq()
return many
