-- Ends tasks and admits their links, all at once: ending first, or admitting in a second call, loses pages.
-- KEYS   the frontier's, then the seen keys of the runs that have links (include/seen.lua)
-- ARGV   those runs' dedupe memory, number of acks (≤ 500), then for each ref, token, state (done|failed|ignored), reason,
--        ms after which the host answered ('' for nothing to be told by), number of links (≤ 500 over all), and id, host, priority, body of each link
-- reply  OK, DONE_ALREADY or STALE for each
-- repeat DONE_ALREADY for a minute, STALE later; nothing changes either way
-- writes links first: seen keys take a write that a full Redis refuses, so then nothing is changed. An ack without
--        new links begins with a removal, which it accepts, and so makes room. Then LEASED, TASKS, DEAD, FAILED; hosts, counts.
-- include admission
-- include held
-- include dead
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DEAD, ACKED)
expect('list', FAILED)
local at = read_seen(1)
local acks, links = {}, 0
local many = integer(ARGV[at], 'number of acks', 0, MOST)
at = at + 1
for i = 1, many do
  local ref, token, state, reason = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  check_held(ref, token)
  if state ~= 'done' and state ~= 'failed' and state ~= 'ignored' then
    refuse('an outcome must be done, failed or ignored, got ' .. tostring(state))
  end
  local answered = ARGV[at + 4] ~= '' and integer(ARGV[at + 4], 'ms of the answer', 0, 86400000)
  local of_it = integer(ARGV[at + 5], 'number of links', 0, MOST)
  links = links + of_it
  if links > MOST then
    refuse('ack takes ' .. MOST .. ' links at most')
  end
  local tasks
  tasks, at = read_tasks(at + 6, of_it)
  if of_it > 0 and not seen_of[run_in(ref)] then
    refuse('the seen keys of run ' .. run_in(ref) .. ' are missing')
  end
  acks[i] = { ref = ref, token = token, state = state, reason = reason, answered = answered, links = tasks }
end
if #ARGV ~= at - 1 then
  refuse('expected ' .. at - 1 .. ' arguments, got ' .. #ARGV)
end

local reply, ended, links_of, runs = {}, {}, {}, {}
local said = {}
for i, ack in ipairs(acks) do
  local before = said[ack.ref .. ack.token]
  local task = not before and held(ack.ref, ack.token)
  if task then
    reply[i] = 'OK'
    said[ack.ref .. ack.token] = ack.state
    ack.task = task
    ended[#ended + 1] = ack
    if #ack.links > 0 then
      local run = run_in(ack.ref)
      if not links_of[run] then
        links_of[run] = {}
        runs[#runs + 1] = run
      end
      for _, link in ipairs(ack.links) do
        table.insert(links_of[run], link)
      end
    end
  elseif before == ack.state or (not before and said_already(ack.token, ack.state)) then
    reply[i] = 'DONE_ALREADY'
  else
    reply[i] = 'STALE'
  end
end
-- One run after the other: runs may share what they have seen.
for _, run in ipairs(runs) do
  admit_planned(plan_admission(run, links_of[run]))
end
for _, ack in ipairs(ended) do
  local ref, task = ack.ref, ack.task
  give_place_back(task.host)
  if ack.answered then
    has_answered(host_of(task.host), ack.answered)
  end
  if ack.state == 'failed' then
    to_dead(ref, task, ack.reason)
  else
    redis.call('ZREM', LEASED, ref)
    redis.call('HDEL', TASKS, ref)
    move(run_in(ref), 'running', ack.state)
    count('total', ack.state, 1)
  end
  remember(ack.token, ack.state)
end
forget_said()
save_all()
return reply
