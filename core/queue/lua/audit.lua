#!lua flags=no-writes
-- Checks, at one instant, what can be seen without reading every task:
--   I1 conservation: of each run, admitted = the sum of its states, and = what it has seen where that is the run's own exact set
--   I3 tokens: those of leased tasks are distinct, none is of a later epoch or seq than there was, no lease outlasts its hard limit
--   I4 counts: each state summed over the runs = the cardinality of its index, and together they are the tasks
-- (I2, each task in the index of its state and no other, reads every task: audit.ts does that.)
-- KEYS   the frontier's, then the exact seen sets that belong to one run alone
-- ARGV   those runs, in that order
-- reply  the violations, the counts as field, value
-- include task
-- include counts
expect('hash', TASKS, COUNTS, RUNS)
expect('zset', PENDING, LEASED, DELAYED, DEAD)
if #KEYS ~= FRONTIER + #ARGV then
  refuse('audit takes one seen key a run')
end
local violations = {}
local function violated(text)
  violations[#violations + 1] = text
end
local STATES = { 'pending', 'running', 'retry', 'done', 'failed', 'ignored', 'cancelled' }
local counts = redis.call('HGETALL', COUNTS)
local by_run, sums = {}, {}
for i = 1, #counts, 2 do
  local run, state = counts[i]:match('^([^.]+)%.(%a+)$')
  local value = tonumber(counts[i + 1])
  if run ~= 'total' then
    by_run[run] = by_run[run] or {}
    by_run[run][state] = value
    sums[state] = (sums[state] or 0) + value
    if value < 0 then
      violated('I4 run ' .. run .. ': ' .. state .. ' is ' .. value)
    end
  end
end
for run, has in pairs(by_run) do
  local sum = 0
  for _, state in ipairs(STATES) do
    sum = sum + (has[state] or 0)
  end
  if sum ~= (has.admitted or 0) then
    violated('I1 run ' .. run .. ': admitted ' .. (has.admitted or 0) .. ', its states sum to ' .. sum)
  end
end
for i, run in ipairs(ARGV) do
  local key = KEYS[FRONTIER + i]
  expect('set', key)
  local admitted, seen = by_run[run] and by_run[run].admitted or 0, redis.call('SCARD', key)
  if seen ~= admitted then
    violated('I1 run ' .. run .. ': admitted ' .. admitted .. ', seen ' .. seen)
  end
end
local together = 0
for state, key in pairs({ pending = PENDING, running = LEASED, retry = DELAYED, failed = DEAD }) do
  local cardinality = redis.call('ZCARD', key)
  together = together + cardinality
  if cardinality ~= (sums[state] or 0) then
    violated('I4 ' .. state .. ': counted ' .. (sums[state] or 0) .. ', its index has ' .. cardinality)
  end
end
local tasks = redis.call('HLEN', TASKS)
if tasks ~= together then
  violated('I4 tasks: ' .. tasks .. ' records, the indexes have ' .. together)
end
-- The first 1,000 leases: a bound on this script's time.
local tokens = {}
local leases = redis.call('ZRANGE', LEASED, 0, 999, 'WITHSCORES')
for i = 1, #leases, 2 do
  local ref = leases[i]
  local task = load_task(ref)
  if not task or task.state ~= 'r' then
    violated('I2 ' .. ref .. ': leased, but its record is ' .. (task and task.state or 'missing'))
  else
    if tokens[task.token] then
      violated('I3 ' .. ref .. ': its token ' .. task.token .. ' is also that of ' .. tokens[task.token])
    end
    tokens[task.token] = ref
    if task.token:sub(1, 6) > EPOCH or tonumber(task.token:sub(8)) > seq then
      violated('I3 ' .. ref .. ': its token ' .. task.token .. ' is later than ' .. EPOCH .. '.' .. seq)
    end
    if tonumber(leases[i + 1]) > tonumber(task.hard) then
      violated('I3 ' .. ref .. ': leased until ' .. leases[i + 1] .. ', past its hard limit ' .. task.hard)
    end
  end
end
return { violations, counts }
