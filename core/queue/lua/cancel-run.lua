#!lua flags=allow-oom
-- Cancels a run. The first call already makes every token of it stale and admission refuse; each call then ends the open
-- tasks in the next part of the queue. What it has not reached yet, a claim drops when it comes to it.
-- KEYS   the frontier's
-- ARGV   run, cursor ('0' at first)
-- reply  cancelled, open tasks left, cursor for the next call
-- repeat ends what is still open
-- writes RUNS; then for each task its index, TASKS; hosts, counts
-- include end-open
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DELAYED)
if #ARGV ~= 2 then
  refuse('cancel-run takes 2 arguments, got ' .. #ARGV)
end
local run = ARGV[1]
integer(run, 'run', 0, 9007199254740991)
if not ARGV[2]:find('^%d+$') or #ARGV[2] > 19 then
  refuse('a cursor must be digits, got ' .. ARGV[2])
end
local found = run_of(run)
if not found then
  return { 0, 0, '0' }
end
local function left()
  local open = redis.call('HMGET', COUNTS, run .. '.pending', run .. '.running', run .. '.retry')
  return tonumber(open[1] or 0) + tonumber(open[2] or 0) + tonumber(open[3] or 0)
end
if found.state == 'finished' or (found.state == 'cancelled' and left() == 0) then
  return { 0, left(), '0' }
end
local page = redis.call('HSCAN', TASKS, ARGV[2], 'COUNT', 300)
if found.state ~= 'cancelled' then
  redis.call('HSET', RUNS, run, 'cancelled|' .. string.format('%.0f', found.cap) .. '|' .. found.dedupe)
end
local many = 0
for i = 1, #page[2], 2 do
  local ref = page[2][i]
  if run_in(ref) == run then
    local task = parse(page[2][i + 1])
    if task and task.state ~= 'f' then
      end_open(ref, task, 'cancelled')
      many = many + 1
    end
  end
end
settle_hosts()
save_counts()
save_seq()
return { many, left(), page[1] }
