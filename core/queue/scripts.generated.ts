// biome-ignore-all format: generated
// biome-ignore-all lint: generated
// From lua/*.lua by package-scripts.ts; `npx vitest run core/queue/package-scripts.test.ts -u` renews it.

const includeFrontier = `local PENDING, TASKS, READY, TURN, HOST, IDLE, DELAYED, LEASED, DEAD, ACKED, RUNS, COUNTS, META, INBOX, FAILED, REJECTED,
  CLAIMS = unpack(KEYS, 1, 17)
local FRONTIER = 17
local function refuse(why)
  error({ err = 'REFUSED ' .. why })
end
if #KEYS < FRONTIER then
  refuse('a script of the queue needs its ' .. FRONTIER .. ' keys, got ' .. #KEYS)
end
local function integer(text, what, low, high)
  local number = text and text:find('^%-?%d+$') and tonumber(text)
  if not number or number < low or number > high then
    refuse(what .. ' must be a whole number from ' .. low .. ' to ' .. high .. ', got ' .. tostring(text))
  end
  return number
end
local function expect(kind, ...)
  for _, key in ipairs({ ... }) do
    local found = redis.call('TYPE', key).ok
    if found ~= kind and found ~= 'none' then
      refuse('key ' .. key .. ' is a ' .. found .. ' where the queue keeps a ' .. kind .. '; rename it')
    end
  end
end
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`
const includeMeta = `expect('hash', META)
local now = clock()
local meta = redis.call('HMGET', META, 'epoch', 'seq', 'delayMs', 'perHost', 'maxRunning', 'paused', 'version', 'draining',
  'adaptive')
local EPOCH = string.format('%06d', tonumber(meta[1] or 0))
local seq = tonumber(meta[2] or 0)
local seq_before = seq
local function next_seq()
  seq = seq + 1
  return seq
end
local function save_seq()
  if seq ~= seq_before then
    redis.call('HSET', META, 'seq', string.format('%.0f', seq))
  end
end
local delay_ms = tonumber(meta[3] or 1000)
local per_host = tonumber(meta[4] or 1)
local adaptive = meta[9] ~= '0'
`
const includeTask = `local function parse(text)
  if not text then
    return nil
  end
  local state, token, deliveries, attempts, begun, priority, order, at, hard, host, body =
    text:match('^(%a)|([%d.]+)|(%d+)|(%d+)|([01])|(%-?%d+)|(%d+)|(%d+)|(%d+)|([^|]+)|(.*)$')
  if not state then
    return nil
  end
  return {
    state = state, token = token, deliveries = tonumber(deliveries), attempts = tonumber(attempts), begun = begun,
    priority = tonumber(priority), order = order, at = at, hard = hard, host = host, body = body,
  }
end
local function load_task(ref)
  return parse(redis.call('HGET', TASKS, ref))
end
local function record(task)
  return table.concat({
    task.state, task.token, task.deliveries, task.attempts, task.begun, task.priority, task.order, task.at, task.hard,
    task.host, task.body,
  }, '|')
end
local function save_task(ref, task)
  redis.call('HSET', TASKS, ref, record(task))
end
local function pending_member(ref, host, priority, order)
  return string.format('%s\\0%04d\\0%012d\\0%s', host, 1000 - priority, order, ref)
end
local function dead_member(ref, task)
  local run, id = ref:match('^(%d+):(.+)$')
  return string.format('%s\\0%013d\\0%s', run, task.at, id)
end
local function run_in(ref)
  return ref:match('^%d+')
end
local function check_ref(ref)
  if not ref or #ref > 40 or not ref:find('^%d+:[%w_-]+$') or #ref:match(':(.*)') ~= 22 then
    refuse('a ref must be a run, a colon and 22 characters of id, got ' .. tostring(ref))
  end
end
local function check_held(ref, token)
  check_ref(ref)
  if not token or not token:find('^%d%d%d%d%d%d%.%d+$') or #token ~= 22 then
    refuse('a token must be epoch.seq with 6 and 15 digits, got ' .. tostring(token))
  end
end
`
const includeHosts = `local INDEX = { r = READY, t = TURN, i = IDLE }
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
  local found = redis.call('ZRANGEBYLEX', PENDING, '[' .. name .. '\\0', '(' .. name .. '\\1', 'LIMIT', 0, 2)
  return found[1], found[2]
end
local function priority_in(member, name)
  return 1000 - tonumber(member:sub(#name + 2, #name + 5))
end
local STEP = 1000000000000
local KEEP_OWN_DELAY_MS, KEEP_PACE_MS = 86400000, 600000
local function settle(name, priority)
  local host = host_of(name)
  local place, score = 'n', nil
  if priority and host.inflight < limit(host) then
    if due(host) > now then
      place, score = 't', due(host)
    else
      place = 'r'
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
local function to_pending(ref, task)
  task.state, task.token, task.begun, task.at, task.hard = 'p', '0', '0', '0', '0'
  save_task(ref, task)
  redis.call('ZADD', PENDING, 0, pending_member(ref, task.host, task.priority, task.order))
  touch(task.host)
end
`
const includeCounts = `local changes = {}
local function count(run, state, by)
  local field = run .. '.' .. state
  changes[field] = (changes[field] or 0) + by
end
local function move(run, from, to)
  count(run, from, -1)
  count(run, to, 1)
end
local function save_counts()
  for field, by in pairs(changes) do
    if by ~= 0 then
      redis.call('HINCRBY', COUNTS, field, by)
    end
  end
end
local run_cache = {}
local function run_of(run)
  local found = run_cache[run]
  if found == nil then
    found = false
    local text = redis.call('HGET', RUNS, run)
    if text then
      local state, cap, share, dedupe = text:match('^(%a+)|(%d+)%.?(%d*)|(.+)$')
      found = { state = state, cap = tonumber(cap), share = tonumber(share) or 0, dedupe = dedupe }
    end
    run_cache[run] = found
  end
  return found
end
local function cancelled(run)
  local found = run_of(run)
  return found and found.state == 'cancelled'
end
`
const includeSeen = `local seen_of = {}
local function read_seen(at)
  local runs = integer(ARGV[at], 'number of runs', 0, 500)
  local key = FRONTIER + 1
  at = at + 1
  for _ = 1, runs do
    local run = ARGV[at]
    integer(run, 'run', 0, 9007199254740991)
    local seen = {
      run = run, dedupe = ARGV[at + 1], kind = ARGV[at + 2],
      buckets = integer(ARGV[at + 3], 'buckets', 1, 400), chunks = integer(ARGV[at + 4], 'chunks', 1, 10000),
      bits = integer(ARGV[at + 5], 'bits', 0, 536870912), hashes = integer(ARGV[at + 6], 'hashes', 0, 32),
      ttl = integer(ARGV[at + 7], 'ttl', 0, 1000000000), first = key,
    }
    if seen.kind ~= 'exact' and (seen.kind ~= 'bloom' or seen.bits == 0 or seen.hashes == 0) then
      refuse('kind must be exact, or bloom with bits and hashes, got ' .. tostring(seen.kind))
    end
    key = key + seen.buckets * seen.chunks
    if key > #KEYS then
      refuse('run ' .. run .. ' needs ' .. seen.buckets * seen.chunks .. ' seen keys and one for its hosts')
    end
    for k = seen.first, key - 1 do
      expect(seen.kind == 'exact' and 'set' or 'string', KEYS[k])
    end
    local found = run_of(run)
    if found and found.dedupe ~= seen.dedupe then
      error({ err = 'DEDUPE run ' .. run .. ' keeps what it has seen elsewhere' })
    end
    seen.shares = KEYS[key]
    expect('hash', seen.shares)
    key = key + 1
    seen_of[run] = seen
    at = at + 8
  end
  if key - 1 ~= #KEYS then
    refuse('expected ' .. key - 1 .. ' keys, got ' .. #KEYS)
  end
  return at
end
local DIGIT = {}
for i = 1, 64 do
  DIGIT[string.byte('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_', i)] = i - 1
end
local function thirty_bits(id, from)
  local a, b, c, d, e = string.byte(id, from, from + 4)
  return (((DIGIT[a] * 64 + DIGIT[b]) * 64 + DIGIT[c]) * 64 + DIGIT[d]) * 64 + DIGIT[e]
end
local question = {}
local function bloom_look(seen, id)
  local chunk, modulus, n = thirty_bits(id, 11) % seen.chunks, seen.bits, seen.hashes
  local position, stride = thirty_bits(id, 1) % modulus, thirty_bits(id, 6) % modulus
  local bits = {}
  for i = 1, n do
    bits[i] = position
    position = (position + stride) % modulus
    stride = (stride + i) % modulus
  end
  for bucket = 0, seen.buckets - 1 do
    local key = KEYS[seen.first + bucket * seen.chunks + chunk]
    if redis.call('GETBIT', key, bits[1]) == 1 then
      question[1] = key
      for i = 1, n do
        question[3 * i - 1], question[3 * i], question[3 * i + 1] = 'GET', 'u1', bits[i]
      end
      local all = true
      for _, bit in ipairs(redis.call('BITFIELD_RO', unpack(question, 1, 3 * n + 1))) do
        all = all and bit == 1
      end
      if all then
        return nil
      end
    end
  end
  return bits, KEYS[seen.first + chunk]
end
local function unseen_of(seen, ids)
  local fresh = {}
  if seen.kind == 'bloom' then
    for _, id in ipairs(ids) do
      local bits, key = bloom_look(seen, id)
      if bits then
        bits.key = key
        fresh[id] = bits
      end
    end
    return fresh
  end
  local left = ids
  for bucket = 0, seen.buckets - 1 do
    if #left == 0 then
      break
    end
    local answer = redis.call('SMISMEMBER', KEYS[seen.first + bucket], unpack(left))
    local still = {}
    for i, id in ipairs(left) do
      if answer[i] == 0 then
        still[#still + 1] = id
      end
    end
    left = still
  end
  for _, id in ipairs(left) do
    fresh[id] = true
  end
  return fresh
end
local function mark_seen(seen, ids, fresh)
  if #ids == 0 then
    return
  end
  if seen.kind == 'exact' then
    redis.call('SADD', KEYS[seen.first], unpack(ids))
    if seen.ttl > 0 then
      redis.call('EXPIRE', KEYS[seen.first], seen.ttl)
    end
    return
  end
  local touched, set, n = {}, {}, seen.hashes
  for i = 1, n do
    set[4 * i - 2], set[4 * i - 1], set[4 * i + 1] = 'SET', 'u1', '1'
  end
  for _, id in ipairs(ids) do
    local bits = fresh[id]
    set[1] = bits.key
    for i = 1, n do
      set[4 * i] = bits[i]
    end
    redis.call('BITFIELD', unpack(set, 1, 4 * n + 1))
    touched[bits.key] = true
  end
  if seen.ttl > 0 then
    for key in pairs(touched) do
      redis.call('EXPIRE', key, seen.ttl)
    end
  end
end
local function check_id(id)
  if not id or #id ~= 22 or not id:find('^[%w_-]+$') then
    refuse('an id must be 22 characters of base64url, got ' .. tostring(id))
  end
end
`
const includeAdmission = `local MOST = 500
local FIELDS = 4
local good_host = {}
local ARGV = ARGV
local function read_tasks(at, many)
  local tasks = {}
  for i = 1, many do
    local host, priority, body = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
    check_id(ARGV[at])
    if not good_host[host or ''] then
      if not host or host == '' or #host > 300 or host:find('[%c%s|%z]') then
        refuse('a host must be 1 to 300 characters without blanks, controls and |, got ' .. tostring(host))
      end
      good_host[host] = true
    end
    integer(priority, 'priority', -1000, 1000)
    if not body or not body:find('^%d+\\n[^\\n]+\\n') then
      refuse('a body must be depth, URL and referrer, a line each')
    end
    tasks[i] = at
    at = at + FIELDS
  end
  return tasks, at
end
local function shares_left(share, seen, ids, at_of)
  local names, left = {}, {}
  for _, id in ipairs(ids) do
    local host = ARGV[at_of[id] + 1]
    if not left[host] then
      names[#names + 1] = host
      left[host] = share
    end
  end
  if #names > 0 then
    for i, taken in ipairs(redis.call('HMGET', seen.shares, unpack(names))) do
      left[names[i]] = share - tonumber(taken or 0)
    end
  end
  return left
end
local function take_shares(run, hosts)
  if run_of(run).share > 0 then
    for _, host in ipairs(hosts) do
      redis.call('HINCRBY', seen_of[run].shares, host, 1)
    end
  end
end
local function plan_admission(run, tasks)
  local found = run_of(run)
  local plan = { run = run, tasks = {}, ids = {}, duplicate = 0, refused = 0, over = {} }
  if not found or found.state ~= 'open' then
    plan.refused = #tasks
    return plan
  end
  local seen = seen_of[run] or refuse('the seen keys of run ' .. run .. ' are missing')
  local ids, first = {}, {}
  for _, at in ipairs(tasks) do
    local id = ARGV[at]
    if first[id] then
      plan.duplicate = plan.duplicate + 1
    else
      first[id] = at
      ids[#ids + 1] = id
    end
  end
  local fresh = unseen_of(seen, ids)
  plan.seen, plan.fresh = seen, fresh
  local room = math.huge
  if found.cap > 0 then
    room = found.cap - tonumber(redis.call('HGET', COUNTS, run .. '.admitted') or 0)
  end
  local many, left = 0, found.share > 0 and shares_left(found.share, seen, ids, first)
  for _, id in ipairs(ids) do
    local host = ARGV[first[id] + 1]
    if not fresh[id] then
      plan.duplicate = plan.duplicate + 1
    elseif many >= room or (left and left[host] <= 0) then
      plan.refused = plan.refused + 1
      plan.over[#plan.over + 1] = first[id]
    else
      many = many + 1
      if left then
        left[host] = left[host] - 1
      end
      plan.ids[many] = id
      plan.tasks[many] = first[id]
    end
  end
  return plan
end
local function admit_planned(plan)
  local many = #plan.tasks
  if many == 0 then
    return
  end
  mark_seen(plan.seen, plan.ids, plan.fresh)
  local records, members, best, names = {}, {}, {}, {}
  local prefix = plan.run .. ':'
  for i, at in ipairs(plan.tasks) do
    local host, priority = ARGV[at + 1], tonumber(ARGV[at + 2])
    local ref = prefix .. ARGV[at]
    local order = next_seq()
    records[2 * i - 1] = ref
    records[2 * i] = 'p|0|0|0|0|' .. priority .. '|' .. order .. '|0|0|' .. host .. '|' .. ARGV[at + 3]
    members[2 * i - 1] = '0'
    members[2 * i] = pending_member(ref, host, priority, order)
    local so_far = best[host]
    if not so_far then
      names[#names + 1] = host
      best[host] = priority
    elseif priority > so_far then
      best[host] = priority
    end
  end
  redis.call('HSET', TASKS, unpack(records))
  redis.call('ZADD', PENDING, unpack(members))
  local hosts = {}
  for i, at in ipairs(plan.tasks) do
    hosts[i] = ARGV[at + 1]
  end
  take_shares(plan.run, hosts)
  count(plan.run, 'admitted', many)
  count(plan.run, 'pending', many)
  local texts = redis.call('HMGET', HOST, unpack(names))
  for i, name in ipairs(names) do
    local in_line = not changed[name] and texts[i] and texts[i]:match('|[rt]|(%-?%d+)')
    if not changed[name] and not (in_line and tonumber(in_line) >= best[name]) then
      local host = read_host(name, texts[i] or nil)
      if host.place == 'n' and host.inflight > 0 then
        touch(name)
      else
        settle(name, best[name])
      end
    end
  end
end
local function save_all()
  settle_hosts()
  save_counts()
  save_seq()
end
`
const includeHeld = `local function held(ref, token)
  if token:sub(1, 6) ~= EPOCH or cancelled(run_in(ref)) then
    return nil
  end
  local task = load_task(ref)
  if task and task.state == 'r' and task.token == token then
    return task
  end
  return nil
end
local REMEMBER_MS = 60000
local function said_already(token, what)
  local at = redis.call('ZSCORE', ACKED, token .. what)
  return at and tonumber(at) >= now - REMEMBER_MS
end
local function remember(token, what)
  redis.call('ZADD', ACKED, now, token .. what)
end
local function forget_said()
  local old = redis.call('ZCOUNT', ACKED, '-inf', '(' .. now - REMEMBER_MS)
  if old > 0 then
    redis.call('ZREMRANGEBYRANK', ACKED, 0, math.min(old, 1000) - 1)
  end
end
`
const includeDead = `local function iso(ms)
  local days = math.floor(ms / 86400000)
  local rest = ms - days * 86400000
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local mp = math.floor((5 * doy + 2) / 153)
  local month = mp < 10 and mp + 3 or mp - 9
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d-%02d-%02dT%02d:%02d:%02d.%03dZ', year, month, doy - math.floor((153 * mp + 2) / 5) + 1,
    math.floor(rest / 3600000), math.floor(rest / 60000) % 60, math.floor(rest / 1000) % 60, rest % 1000)
end
local KEPT = 10000
local function tell(list, entries)
  redis.call('RPUSH', list, unpack(entries))
  redis.call('LTRIM', list, -KEPT, -1)
end
local function to_dead(ref, task, reason)
  local url = task.body:match('^%d+\\n([^\\n]*)') or ''
  redis.call('ZREM', LEASED, ref)
  task.state, task.token, task.begun, task.at, task.hard = 'f', '0', '0', string.format('%.0f', now), '0'
  save_task(ref, task)
  redis.call('ZADD', DEAD, 0, dead_member(ref, task))
  tell(FAILED, { '{"url":' .. cjson.encode(url) .. ',"run":' .. run_in(ref) .. ',"reason":'
    .. cjson.encode(reason) .. ',"at":"' .. iso(now) .. '"}' })
  move(run_in(ref), 'running', 'failed')
  count('total', 'failed', 1)
end
`
const includeEndOpen = `local OPEN = { p = 'pending', r = 'running', t = 'retry' }
local function end_open(ref, task, to)
  if task.state == 'p' then
    redis.call('ZREM', PENDING, pending_member(ref, task.host, task.priority, task.order))
    touch(task.host)
  elseif task.state == 'r' then
    redis.call('ZREM', LEASED, ref)
    give_place_back(task.host)
  else
    redis.call('ZREM', DELAYED, ref)
  end
  redis.call('HDEL', TASKS, ref)
  move(run_in(ref), OPEN[task.state], to)
end
`

export const SCRIPTS = {
  'ack': `` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeSeen + includeAdmission + includeHeld + includeDead + `expect('hash', TASKS, HOST, COUNTS, RUNS)
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
`,
  'add-links': `#!lua
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeSeen + includeAdmission + includeHeld + `expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE)
local at = read_seen(1)
local ref, token = ARGV[at], ARGV[at + 1]
check_held(ref, token)
local many = integer(ARGV[at + 2], 'number of links', 0, MOST)
if ARGV[1] ~= '1' or ARGV[2] ~= run_in(ref) or #ARGV ~= at + 2 + many * FIELDS then
  refuse('add-links takes the run of the ref and its links, got ' .. #ARGV .. ' arguments')
end
local links = read_tasks(at + 3, many)
if not held(ref, token) then
  return 'STALE'
end
admit_planned(plan_admission(ARGV[2], links))
save_all()
return 'OK'
`,
  'address-turn': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + `local TURNS, LINE = KEYS[18], KEYS[19]
if #KEYS ~= 19 or #ARGV ~= 3 then
  refuse('address-turn takes two keys more and 3 arguments, got ' .. #KEYS .. ' and ' .. #ARGV)
end
expect('zset', TURNS, LINE)
local address, host = ARGV[1], ARGV[2]
for _, name in ipairs({ address, host }) do
  if name == '' or #name > 300 or name:find('[%c%s|%z]') then
    refuse('addresses and hosts must be 1 to 300 characters without blanks, controls and |, got ' .. name)
  end
end
local delay = integer(ARGV[3], 'delay', 1, 86400000)
local GRACE, STRIKES = 2000, 500
local length = redis.call('ZCARD', LINE)
local longest = math.max(60000, 10 * length)
local turn = math.min(tonumber(redis.call('ZSCORE', TURNS, address) or 0), now + delay)
local place = redis.call('ZRANK', LINE, host)
local before = place or length
if turn <= now and (before == 0 or turn + GRACE <= now) then
  redis.call('ZREM', LINE, host)
  if before > 0 then
    redis.call('ZREMRANGEBYRANK', LINE, 0, math.min(before, STRIKES) - 1)
  end
  redis.call('ZREMRANGEBYSCORE', TURNS, '-inf', now - GRACE)
  redis.call('ZADD', TURNS, now + delay, address)
  return 0
end
if not place then
  redis.call('ZADD', LINE, next_seq(), host)
  save_seq()
end
redis.call('PEXPIRE', LINE, 2 * longest)
return math.min(math.max(turn - now, 0) + before * delay, longest)
`,
  'admit': `#!lua
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeSeen + includeAdmission + `expect('hash', TASKS, HOST, COUNTS, RUNS)
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
`,
  'audit': `#!lua flags=no-writes
` + includeFrontier + includeMeta + includeTask + includeCounts + `expect('hash', TASKS, COUNTS, RUNS)
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
`,
  'begin': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeHeld + `expect('hash', TASKS, HOST, RUNS)
expect('zset', PENDING, READY, TURN, IDLE)
random = integer(ARGV[1], 'random', 0, 2147483646)
if #ARGV % 2 ~= 1 or #ARGV > 1001 then
  refuse('begin takes a random number and up to 500 pairs, got ' .. #ARGV .. ' arguments')
end
for i = 2, #ARGV, 2 do
  check_held(ARGV[i], ARGV[i + 1])
end
local reply = {}
for i = 2, #ARGV, 2 do
  local task = held(ARGV[i], ARGV[i + 1])
  if task and task.begun == '0' then
    task.begun = '1'
    task.deliveries = task.deliveries + 1
    save_task(ARGV[i], task)
    start_delay(touch(task.host))
  end
  reply[#reply + 1] = task and 'OK' or 'STALE'
end
settle_hosts()
save_seq()
return reply
`,
  'cancel-run': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeEndOpen + `expect('hash', TASKS, HOST, COUNTS, RUNS)
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
`,
  'cancel-urls': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeEndOpen + `expect('hash', TASKS, HOST, COUNTS, RUNS)
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
`,
  'claim': `#!lua
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeEndOpen + `expect('hash', TASKS, HOST, COUNTS, RUNS)
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
local MOVES, LOOKS = 200, 200
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
`,
  'configure': `#!lua
` + includeFrontier + `expect('hash', META)
if #ARGV ~= 7 then
  refuse('configure takes 7 arguments, got ' .. #ARGV)
end
local delay, per_host = integer(ARGV[1], 'delayMs', 0, 86400000), integer(ARGV[2], 'perHost', 1, 100000)
if ARGV[3] ~= '' then
  integer(ARGV[3], 'maxRunning', 0, 10000000)
end
local paused, draining = integer(ARGV[4], 'paused', 0, 1), integer(ARGV[5], 'draining', 0, 1)
local adaptive = integer(ARGV[6], 'adaptive', 0, 1)
if redis.call('HGET', META, 'settings') ~= ARGV[7] then
  redis.call('HSET', META, 'settings', ARGV[7], 'delayMs', delay, 'perHost', per_host, 'maxRunning', ARGV[3], 'paused', paused,
    'draining', draining, 'adaptive', adaptive)
  redis.call('HINCRBY', META, 'version', 1)
end
return tonumber(redis.call('HGET', META, 'version'))
`,
  'end-turn': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + `expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 4 or ARGV[1] == '' or #ARGV[1] > 300 or ARGV[1]:find('[%c%s|%z]') then
  refuse('end-turn takes a host of 1 to 300 characters without blanks, controls and |, a number, a turn and its start')
end
random = integer(ARGV[2], 'random', 0, 2147483646)
local turn = integer(ARGV[3], 'turn', 1, 9007199254740991)
local began = integer(ARGV[4], 'start', 0, 9007199254740991)
local host = host_of(ARGV[1])
if host.next_at ~= turn then
  return 'STALE'
end
touch(ARGV[1])
host.next_at = 0
if began > 0 then
  start_delay(host, began)
end
settle_hosts()
save_seq()
return 'OK'
`,
  'extend': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeCounts + includeHeld + `expect('hash', TASKS, RUNS)
expect('zset', LEASED)
local lease_ms = integer(ARGV[1], 'leaseMs', 1, 86400000)
if #ARGV % 2 ~= 1 or #ARGV > 1001 then
  refuse('extend takes leaseMs and up to 500 pairs, got ' .. #ARGV .. ' arguments')
end
for i = 2, #ARGV, 2 do
  check_held(ARGV[i], ARGV[i + 1])
end
local lost = {}
for i = 2, #ARGV, 2 do
  local task = held(ARGV[i], ARGV[i + 1])
  if task and now < tonumber(task.hard) then
    redis.call('ZADD', LEASED, math.min(now + lease_ms, tonumber(task.hard)), ARGV[i])
  else
    lost[#lost + 1] = ARGV[i]
  end
end
return lost
`,
  'finish': `#!lua flags=allow-oom
` + includeFrontier + includeCounts + `expect('hash', RUNS, COUNTS)
if #ARGV ~= 1 then
  refuse('finish takes 1 argument, got ' .. #ARGV)
end
local run = ARGV[1]
integer(run, 'run', 0, 9007199254740991)
local found = run_of(run)
if not found then
  return 0
end
for _, open in ipairs(redis.call('HMGET', COUNTS, run .. '.pending', run .. '.running', run .. '.retry')) do
  if open and tonumber(open) ~= 0 then
    return 0
  end
end
if found.state == 'open' then
  redis.call('HSET', RUNS, run, 'finished|' .. string.format('%.0f', found.cap) .. '|' .. found.dedupe)
end
return 1
`,
  'forget': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeCounts + `expect('hash', TASKS, RUNS, COUNTS)
expect('zset', DEAD)
if #ARGV ~= 1 then
  refuse('forget takes 1 argument, got ' .. #ARGV)
end
local run = ARGV[1]
integer(run, 'run', 0, 9007199254740991)
local found = run_of(run)
if not found then
  return 1
end
local open = redis.call('HMGET', COUNTS, run .. '.pending', run .. '.running', run .. '.retry')
if found.state == 'open' or tonumber(open[1] or 0) + tonumber(open[2] or 0) + tonumber(open[3] or 0) > 0 then
  refuse('run ' .. run .. ' is still open: finish or cancel it first')
end
local members = redis.call('ZRANGEBYLEX', DEAD, '[' .. run .. '\\0', '(' .. run .. '\\1', 'LIMIT', 0, 500)
for _, member in ipairs(members) do
  redis.call('ZREM', DEAD, member)
  redis.call('HDEL', TASKS, run .. ':' .. member:sub(-22))
end
count(run, 'failed', -#members)
count(run, 'cancelled', #members)
save_counts()
if #members == 500 then
  return 0
end
for i = FRONTIER + 1, #KEYS do
  redis.call('UNLINK', KEYS[i])
end
for _, state in ipairs({ 'admitted', 'pending', 'running', 'retry', 'done', 'failed', 'ignored', 'cancelled' }) do
  redis.call('HDEL', COUNTS, run .. '.' .. state)
end
redis.call('HDEL', RUNS, run)
return 1
`,
  'hasten': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + `expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 1 then
  refuse('hasten takes 1 argument, got ' .. #ARGV)
end
local offset = integer(ARGV[1], 'offset', 0, 9007199254740991)
local longest = math.ceil(now + delay_ms * (1 + JITTER))
local names = redis.call('ZRANGEBYSCORE', TURN, '(' .. longest, '+inf', 'LIMIT', offset, 300)
local left = 0
for _, name in ipairs(names) do
  local host = host_of(name)
  local floor = math.ceil(now + delay_of(host) * (1 + JITTER))
  local next_at = math.min(host.next_at, math.max(floor, now + host.own))
  if math.max(next_at, host.held_until) < due(host) then
    host.next_at = next_at
    touch(name)
  else
    left = left + 1
  end
end
settle_hosts()
save_seq()
return { #names, left }
`,
  'hold': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + `expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 5 or ARGV[1] == '' or #ARGV[1] > 300 or ARGV[1]:find('[%c%s|%z]') then
  refuse('hold takes a host of 1 to 300 characters without blanks, controls and |, ms, two delays and 0 or 1')
end
local ms = integer(ARGV[2], 'ms', 0, 8640000000)
local own = ARGV[3] ~= '' and integer(ARGV[3], 'delay', 0, 86400000)
local rate = ARGV[4] ~= '' and integer(ARGV[4], 'rate', -1, 86400000)
local too_much = integer(ARGV[5], 'slow', 0, 1)
local host = touch(ARGV[1])
if too_much == 1 then
  slow_down(host)
end
if ms > 0 then
  host.held_until = math.max(host.held_until, now + ms)
end
if own then
  host.own = own
end
if rate then
  host.rate = rate >= 0 and rate or nil
  local longest = math.max(math.ceil(delay_of(host) * (1 + JITTER)), host.own)
  host.next_at = math.min(host.next_at, now + longest)
end
settle_hosts()
save_seq()
return 'OK'
`,
  'open-run': `#!lua
` + includeFrontier + `expect('hash', RUNS)
if #ARGV ~= 4 then
  refuse('open-run takes 4 arguments, got ' .. #ARGV)
end
integer(ARGV[1], 'run', 0, 9007199254740991)
local cap = integer(ARGV[2], 'maxPages', 0, 9007199254740991)
local share = integer(ARGV[3], 'maxPagesPerHost', 0, 9007199254740991)
if not ARGV[4]:find('^[%w.:@]+$') then
  refuse('dedupe must be letters, digits, dots and colons, got ' .. ARGV[4])
end
local text = redis.call('HGET', RUNS, ARGV[1])
if not text then
  text = 'open|' .. string.format('%.0f', cap) .. (share > 0 and string.format('.%.0f', share) or '') .. '|'
    .. ARGV[4]:gsub('@', math.floor(clock() / 86400000))
  redis.call('HSET', RUNS, ARGV[1], text)
elseif text:find('^finished|') then
  text = text:gsub('^finished', 'open')
  redis.call('HSET', RUNS, ARGV[1], text)
end
return text
`,
  'purge': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeEndOpen + `expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DELAYED)
if #ARGV ~= 1 then
  refuse('purge takes 1 argument, got ' .. #ARGV)
end
local most = integer(ARGV[1], 'most', 1, 300)
local refs = redis.call('ZRANGE', DELAYED, 0, most - 1)
for _, member in ipairs(#refs < most and redis.call('ZRANGE', PENDING, 0, most - #refs - 1) or {}) do
  refs[#refs + 1] = member:match('([^%z]+)$')
end
local many = 0
for _, ref in ipairs(refs) do
  local task = load_task(ref)
  if task then
    end_open(ref, task, 'cancelled')
    many = many + 1
  end
end
settle_hosts()
save_counts()
save_seq()
return { many, redis.call('ZCARD', PENDING) + redis.call('ZCARD', DELAYED) }
`,
  'reap': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeEndOpen + includeHeld + includeDead + `expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DEAD, ACKED)
expect('list', FAILED)
if #ARGV ~= 2 then
  refuse('reap takes 2 arguments, got ' .. #ARGV)
end
local most = integer(ARGV[1], 'limit', 1, 500)
local max_deliveries = integer(ARGV[2], 'maxDeliveries', 1, 1000000)
local reply = { 0 }
for _, ref in ipairs(redis.call('ZRANGEBYSCORE', LEASED, '-inf', now, 'LIMIT', 0, most)) do
  local task = load_task(ref)
  if not task then
    redis.call('ZREM', LEASED, ref)
  elseif cancelled(run_in(ref)) then
    end_open(ref, task, 'cancelled')
  else
    give_place_back(task.host)
    if task.begun == '1' and task.deliveries >= max_deliveries then
      to_dead(ref, task, 'worker_lost')
      reply[#reply + 1] = ref
      reply[#reply + 1] = task.body
    else
      to_pending(ref, task)
      redis.call('ZREM', LEASED, ref)
      move(run_in(ref), 'running', 'pending')
      reply[1] = reply[1] + 1
    end
  end
end
settle_hosts()
for _, name in ipairs(redis.call('ZRANGEBYSCORE', IDLE, '-inf', now - 1, 'LIMIT', 0, 200)) do
  redis.call('ZREM', IDLE, name)
  redis.call('HDEL', HOST, name)
end
forget_said()
save_counts()
save_seq()
return reply
`,
  'redrive': `#!lua
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + `expect('hash', TASKS, HOST, COUNTS, RUNS)
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
  for _, member in ipairs(redis.call('ZRANGEBYLEX', DEAD, '[' .. run .. '\\0', '(' .. run .. '\\1', 'LIMIT', 0, 100)) do
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
`,
  'release': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeHeld + `expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED)
if #ARGV % 2 ~= 0 or #ARGV > 1000 then
  refuse('release takes up to 500 pairs, got ' .. #ARGV .. ' arguments')
end
for i = 1, #ARGV, 2 do
  check_held(ARGV[i], ARGV[i + 1])
end
local reply = {}
for i = 1, #ARGV, 2 do
  local ref = ARGV[i]
  local task = held(ref, ARGV[i + 1])
  if task then
    if task.begun == '1' then
      task.deliveries = task.deliveries - 1
    end
    to_pending(ref, task)
    redis.call('ZREM', LEASED, ref)
    give_place_back(task.host)
    move(run_in(ref), 'running', 'pending')
  end
  reply[#reply + 1] = task and 'OK' or 'STALE'
end
settle_hosts()
save_counts()
save_seq()
return reply
`,
  'report-proxy': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + `local HEALTH, BANS = KEYS[18], KEYS[19]
if #KEYS ~= 19 or #ARGV ~= 3 then
  refuse('report-proxy takes two keys more and 3 arguments, got ' .. #KEYS .. ' and ' .. #ARGV)
end
expect('hash', HEALTH)
expect('zset', BANS)
local id, what, host = tostring(integer(ARGV[1], 'proxy', 1, 2147483647)), ARGV[2], ARGV[3]
if what ~= 'good' and what ~= 'bad' and what ~= 'banned' then
  refuse('an outcome must be good, bad or banned, got ' .. tostring(what))
end
if host == '' or #host > 300 or host:find('[%c%s|%z]') then
  refuse('a host must be 1 to 300 characters without blanks, controls and |, got ' .. host)
end
local FIRST_REST, LONGEST_REST, BAN = 30000, 1800000, 600000
local score, streak, rest, uses = (redis.call('HGET', HEALTH, id) or ''):match('^(%d+)|(%d+)|(%d+)|(%d+)$')
score, streak, rest, uses = tonumber(score or 1000), tonumber(streak or 0), tonumber(rest or 0), tonumber(uses or 0)
if what == 'bad' then
  score = math.floor(score * 0.8)
  if now >= rest then
    streak = streak + 1
    rest = streak > 1 and now + math.min(FIRST_REST * 2 ^ math.min(streak - 2, 10), LONGEST_REST) or 0
  end
else
  score = math.min(1000, math.floor(score * 0.9) + 100)
  streak, rest = 0, 0
end
redis.call('HSET', HEALTH, id, string.format('%d|%d|%.0f|%.0f', score, streak, rest, uses + 1))
if what == 'banned' then
  redis.call('ZADD', BANS, now + BAN, id .. ' ' .. host)
  redis.call('ZREMRANGEBYSCORE', BANS, '-inf', now - 1)
end
return rest
`,
  'restore': `#!lua
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeSeen + includeAdmission + `expect('hash', TASKS, COUNTS, RUNS)
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
`,
  'retry': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeHeld + `expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DELAYED, ACKED)
if #ARGV ~= 3 then
  refuse('retry takes 3 arguments, got ' .. #ARGV)
end
local ref, token = ARGV[1], ARGV[2]
check_held(ref, token)
local delay = integer(ARGV[3], 'delayMs', 0, 8640000000)
local task = held(ref, token)
if not task then
  return said_already(token, 'retry') and 'DONE_ALREADY' or 'STALE'
end
local due = now + delay
task.state, task.token, task.begun, task.at, task.hard = 't', '0', '0', string.format('%.0f', due), '0'
task.attempts = task.attempts + 1
save_task(ref, task)
redis.call('ZREM', LEASED, ref)
redis.call('ZADD', DELAYED, due, ref)
remember(token, 'retry')
forget_said()
give_place_back(task.host)
move(run_in(ref), 'running', 'retry')
settle_hosts()
save_counts()
save_seq()
return 'OK'
`,
  'set-epoch': `#!lua flags=allow-oom
` + includeFrontier + `expect('hash', META)
if #ARGV ~= 1 then
  refuse('set-epoch takes 1 argument, got ' .. #ARGV)
end
local epoch = integer(ARGV[1], 'epoch', 0, 999999)
if epoch > tonumber(redis.call('HGET', META, 'epoch') or 0) then
  redis.call('HSET', META, 'epoch', epoch)
end
return tonumber(redis.call('HGET', META, 'epoch') or 0)
`,
  'take-inbox': `#!lua
` + includeFrontier + includeMeta + includeTask + includeHosts + includeCounts + includeSeen + includeAdmission + includeDead + `expect('hash', TASKS, HOST, COUNTS, RUNS)
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
    rejected[#rejected + 1] = '{"entry":' .. cjson.encode(ARGV[over + 3]:match('^%d+\\n([^\\n]*)'))
      .. ',"reason":"the run has its maxPages, or the host its maxPagesPerHost","at":"' .. iso(now) .. '"}'
  end
end
if #rejected > 0 then
  tell(REJECTED, rejected)
end
redis.call('LPOP', INBOX, entries)
save_all()
return 1
`,
  'turn': `#!lua flags=allow-oom
` + includeFrontier + includeMeta + includeTask + includeHosts + `expect('hash', HOST)
expect('zset', PENDING, READY, TURN, IDLE)
if #ARGV ~= 4 or ARGV[1] == '' or #ARGV[1] > 300 or ARGV[1]:find('[%c%s|%z]') then
  refuse('turn takes a host of 1 to 300 characters without blanks, controls and |, two times and a turn')
end
local last = integer(ARGV[2], 'last', 1, 86400000)
local longest = integer(ARGV[3], 'longest', 0, 86400000)
local kept = ARGV[4] ~= '' and integer(ARGV[4], 'turn', 1, 9007199254740991)
local host = touch(ARGV[1])
local from = host.next_at
if kept and kept == from then
  from = kept - last
end
local start = math.max(from, host.held_until, now)
if start - now > longest then
  return { start - now, 0, 0 }
end
local wait = start - now
if wait == 0 and host.inflight >= limit(host) then
  wait = 50
end
host.next_at = start + last
local turn = host.next_at
if wait == 0 and limit(host) > 1 then
  host.next_at = now
  turn = now
end
settle_hosts()
save_seq()
return { wait, turn, wait == 0 and now or 0 }
`,
  'unseen': `#!lua flags=no-writes
` + includeFrontier + includeCounts + includeSeen + `expect('hash', RUNS)
local at = read_seen(1)
local ids = {}
for i = at, #ARGV do
  check_id(ARGV[i])
  ids[#ids + 1] = ARGV[i]
end
if ARGV[1] ~= '1' or #ids > 500 then
  refuse('unseen takes one run and up to 500 ids, got ' .. #ids)
end
local fresh = unseen_of(seen_of[ARGV[2]], ids)
local reply = {}
for _, id in ipairs(ids) do
  if fresh[id] then
    reply[#reply + 1] = id
  end
end
return reply
`,
}
