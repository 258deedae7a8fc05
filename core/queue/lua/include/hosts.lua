-- include task
-- A host's record: `nextAt|heldUntil|inflight|ownDelay|place|priority`; where there is one of them then `|rate|pace|slowedAt`:
-- an operator's delay that stands for the queue's, the delay that the host's answers call for, and when that was last
-- lengthened for an error. Both times bind. Its place, which `settle` alone decides, is
--   r  READY: pending work, room, and its time has come; by priority of its first task, then by arrival there
--   t  TURN:  pending work and room, but not yet; by the time
--   n  in no index: all it may have at once is in flight, or all it has
--   i  IDLE:  no pending work and nothing in flight; by the time when its record may go
-- The record says so itself, so that most admissions and moves need not ask the indexes.
local INDEX = { r = READY, t = TURN, i = IDLE }
local hosts = {}
local changed, in_order = {}, {}
local function read_host(name, text)
  local next_at, held_until, inflight, own, place, priority, rate, pace, slowed_at =
    (text or ''):match('^(%d+)|(%d+)|(%d+)|(%d+)|([rtni])|(%-?%d+)|?(%d*)|?(%d*)|?(%d*)$')
  hosts[name] = {
    next_at = tonumber(next_at or 0), held_until = tonumber(held_until or 0), inflight = tonumber(inflight or 0), own = tonumber(own or 0),
    place = place or 'n', priority = tonumber(priority or 0), rate = tonumber(rate), text = text,
    pace = adaptive and tonumber(pace) or 0, slowed_at = tonumber(slowed_at) or 0,
  }
  return hosts[name]
end
local function host_of(name)
  return hosts[name] or read_host(name, redis.call('HGET', HOST, name))
end
-- The host whose standing this script changes; `settle_hosts` writes it down.
local function touch(name)
  if not changed[name] then
    changed[name] = true
    in_order[#in_order + 1] = name
  end
  return host_of(name)
end
local function floor_of(host)
  return host.rate or delay_ms
end
local function delay_of(host)
  return math.max(floor_of(host), host.pace)
end
local function limit(host)
  return (delay_of(host) > 0 or host.own > 0) and 1 or per_host
end
local function due(host)
  return math.max(host.next_at, host.held_until)
end
local function first_two_of(name)
  local found = redis.call('ZRANGEBYLEX', PENDING, '[' .. name .. '\0', '(' .. name .. '\1', 'LIMIT', 0, 2)
  return found[1], found[2]
end
local function priority_in(member, name)
  return 1000 - tonumber(member:sub(#name + 2, #name + 5))
end

-- 10^12 a step of priority: arrivals stay below it, and the sum below 2^53.
local STEP = 1000000000000
local KEEP_OWN_DELAY_MS, KEEP_PACE_MS = 86400000, 600000
-- `priority` is that of the host's first pending task; nil when there is none.
local function settle(name, priority)
  local host = host_of(name)
  local place, score = 'n', nil
  if priority and host.inflight < limit(host) then
    if due(host) > now then
      place, score = 't', due(host)
    else
      place = 'r'
      -- A host that stands there with the same priority keeps its place: turns stay fair.
      if host.place ~= 'r' or host.priority ~= priority then
        score = string.format('%.0f', next_seq() - priority * STEP)
      end
    end
  elseif not priority and host.inflight == 0 then
    local keep = (host.own > 0 or host.rate) and KEEP_OWN_DELAY_MS or host.pace > 0 and KEEP_PACE_MS or 0
    place, score = 'i', math.max(due(host), now) + keep
  end
  if host.place ~= place and host.place ~= 'n' then
    redis.call('ZREM', INDEX[host.place], name)
  end
  if score then
    redis.call('ZADD', INDEX[place], score, name)
  end
  host.place, host.priority = place, priority or 0
  local text = string.format('%.0f|%.0f|%d|%.0f|%s|%d', host.next_at, host.held_until, host.inflight, host.own, place,
    host.priority)
  if host.rate or host.pace > 0 then
    text = text .. '|' .. (host.rate and string.format('%.0f', host.rate) or '')
    text = text .. (host.pace > 0 and string.format('|%.0f|%.0f', host.pace, host.slowed_at) or '')
  end
  if text ~= host.text then
    redis.call('HSET', HOST, name, text)
    host.text = text
  end
end
local function settle_hosts()
  for _, name in ipairs(in_order) do
    local first = first_two_of(name)
    settle(name, first and priority_in(first, name))
  end
  changed, in_order = {}, {}
end

local function give_place_back(name)
  local host = touch(name)
  host.inflight = math.max(host.inflight - 1, 0)
end

-- The pace follows what a host answers. It rests at 0, where the queue's delay alone holds, and is never below that. An error
-- that says "too much" doubles it, once in its own length, so that what was under way together counts as one. Each good
-- answer takes a tenth off, but where there is a delay it never asks more of a host than half of its time: twice its latency,
-- up to which the pace at most doubles with an answer, for a single slow page says little.
local MOST_PACE, FIRST_PACE, LEAST_PACE = 60000, 250, 100
local function slow_down(host)
  if adaptive and now >= host.slowed_at + host.pace then
    host.pace = math.max(host.pace, math.min(2 * math.max(host.pace, floor_of(host), FIRST_PACE), MOST_PACE))
    host.slowed_at = now
  end
end
local function has_answered(host, ms)
  local floor = floor_of(host)
  if not adaptive or (floor == 0 and host.pace == 0) then
    return
  end
  local wanted = floor > 0 and math.min(2 * ms, 2 * math.max(host.pace, floor), MOST_PACE) or 0
  host.pace = math.max(math.floor(host.pace * 0.9), wanted)
  if host.pace <= math.max(floor, LEAST_PACE) then
    host.pace = 0
  end
end

-- Spacing counts from here, or `from` another time (ms). `random` comes from the caller: math.random starts alike in every script.
local random = 1
local JITTER = 0.33
local function start_delay(host, from)
  local delay = delay_of(host)
  if delay == 0 and host.own == 0 then
    return
  end
  random = (random * 16807 + 11) % 2147483647
  local wait = math.max(delay * (1 - JITTER + 2 * JITTER * random / 2147483647), host.own)
  host.next_at = math.max(host.next_at, math.ceil((from or now) + wait))
end

-- Back to pending, in its old place: arrival and priority stay what they were.
local function to_pending(ref, task)
  task.state, task.token, task.begun, task.at, task.hard = 'p', '0', '0', '0', '0'
  save_task(ref, task)
  redis.call('ZADD', PENDING, 0, pending_member(ref, task.host, task.priority, task.order))
  touch(task.host)
end
