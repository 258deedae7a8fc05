#!lua flags=allow-oom
-- Cancels single URLs of a run; those in work answer STALE.
-- KEYS   the frontier's
-- ARGV   run, then ids (≤ 500)
-- reply  how many were open
-- repeat they are open no more
-- writes for each task its index, TASKS; hosts, counts
-- include end-open
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DELAYED)
local run = ARGV[1]
integer(run, 'run', 0, 9007199254740991)
if #ARGV > 501 then
  refuse('cancel-urls takes a run and up to 500 ids, got ' .. #ARGV .. ' arguments')
end
for i = 2, #ARGV do
  check_ref(run .. ':' .. ARGV[i])
end
local many = 0
for i = 2, #ARGV do
  local ref = run .. ':' .. ARGV[i]
  local task = load_task(ref)
  if task and task.state ~= 'f' then
    end_open(ref, task, 'cancelled')
    many = many + 1
  end
end
settle_hosts()
save_counts()
save_seq()
return many
