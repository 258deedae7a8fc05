#!lua
-- Leases up to `max` tasks: among hosts whose turn it is the highest priority first, hosts of the same priority in
-- turn. Moves what is due on the way: retries to pending, hosts to ready.
-- KEYS   the frontier's
-- ARGV   max (≤ 64), leaseMs, hardMs, settings version the caller has, a random number, the caller's name ('' for none)
-- reply  epoch, ms until something becomes claimable by time alone (−1: nothing waits), inbox length (−1: the
--        queue is draining, leave the inbox alone), version,
--        settings ('' when the caller has that version), then ref, token, deliveries, attempts, priority, host, body of each
-- repeat after a lost reply the leases lapse, and nothing is charged: none was begun
-- writes for each task PENDING, TASKS, LEASED, host; then counts, the claim; last META.seq
-- include hosts
-- include counts
-- include end-open
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, DELAYED, LEASED, CLAIMS)
expect('list', INBOX)
if #ARGV ~= 6 then
  refuse('claim takes 6 arguments, got ' .. #ARGV)
end
if #ARGV[6] > 100 or ARGV[6]:find('[%c%s%z]') then
  refuse('a caller must be named with up to 100 characters without blanks, got ' .. ARGV[6])
end
local max = integer(ARGV[1], 'max', 0, 64)
local lease_ms = integer(ARGV[2], 'leaseMs', 1, 86400000)
local hard_ms = integer(ARGV[3], 'hardMs', 1, 864000000)
local version = integer(ARGV[4], 'version', 0, 9007199254740991)
random = integer(ARGV[5], 'random', 0, 2147483646)

local known = tonumber(meta[7] or 0)
local reply = { tonumber(EPOCH), -1, meta[8] == '1' and -1 or redis.call('LLEN', INBOX), known, '' }
if known ~= version then
  reply[5] = redis.call('HGET', META, 'settings') or ''
end
if meta[6] == '1' then
  return reply
end

-- Bounds: what one call moves, and how many hosts it looks at beside its leases.
local MOVES, LOOKS = 200, 200
-- More than can be under way at any time: a worker has at most some tens of claims open.
local KEPT_CLAIMS = 5000
for _, ref in ipairs(redis.call('ZRANGEBYSCORE', DELAYED, '-inf', now, 'LIMIT', 0, MOVES)) do
  local task = load_task(ref)
  if task and cancelled(run_in(ref)) then
    end_open(ref, task, 'cancelled')
  else
    redis.call('ZREM', DELAYED, ref)
    if task then
      to_pending(ref, task)
      move(run_in(ref), 'retry', 'pending')
    end
  end
end
for _, name in ipairs(redis.call('ZRANGEBYSCORE', TURN, '-inf', now, 'LIMIT', 0, MOVES)) do
  touch(name)
end
settle_hosts()

local room = max
if meta[5] and meta[5] ~= '' then
  room = math.min(room, tonumber(meta[5]) - redis.call('ZCARD', LEASED))
end
local hard = now + hard_ms
local expiry = math.min(now + lease_ms, hard)
local leased, looks = 0, 0
while leased < room and looks < max + LOOKS do
  looks = looks + 1
  local name = redis.call('ZPOPMIN', READY)[1]
  if not name then
    break
  end
  local host = host_of(name)
  host.place = 'n'
  local first, second = first_two_of(name)
  if first and host.inflight < limit(host) and due(host) <= now then
    local ref = first:sub(#name + 20)
    local task = load_task(ref)
    redis.call('ZREM', PENDING, first)
    first = second
    if task and cancelled(run_in(ref)) then
      end_open(ref, task, 'cancelled')
    elseif task then
      task.state, task.token = 'r', EPOCH .. string.format('.%015.0f', next_seq())
      task.at, task.hard = string.format('%.0f', now), string.format('%.0f', hard)
      save_task(ref, task)
      redis.call('ZADD', LEASED, expiry, ref)
      host.inflight = host.inflight + 1
      start_delay(host)
      move(run_in(ref), 'pending', 'running')
      local at = #reply
      reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4] = ref, task.token, task.deliveries, task.attempts
      reply[at + 5], reply[at + 6], reply[at + 7] = task.priority, task.host, task.body
      leased = leased + 1
    end
  end
  settle(name, first and priority_in(first, name))
end
save_counts()
-- One entry a claim, by the last number it gave out: whoever has a token finds its holder as the first entry from there on.
if leased > 0 and ARGV[6] ~= '' then
  redis.call('ZADD', CLAIMS, seq, ARGV[6] .. ' ' .. string.format('%.0f', seq))
  redis.call('ZREMRANGEBYRANK', CLAIMS, 0, -KEPT_CLAIMS - 1)
end
save_seq()

if leased == room and redis.call('ZCARD', READY) > 0 and room == max then
  reply[2] = 0
else
  for _, key in ipairs({ TURN, DELAYED }) do
    local at = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    if at then
      local wait = math.max(tonumber(at) - now, 0)
      reply[2] = reply[2] < 0 and wait or math.min(reply[2], wait)
    end
  end
end
return reply
