-- include hosts
-- include counts
-- include seen
-- Admission in two halves, so that a script can read everything before it writes anything:
-- `read_tasks` and `plan_admission` only look, `admit_planned` writes. A task is where its four fields begin in ARGV
-- (id, host, priority, body): a table for each of 500 would cost a third of the script's time. Constants are texts
-- for the same reason: Redis turns a number into text anew each time.
local MOST = 500
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
    if not body or not body:find('^%d+\n[^\n]+\n') then
      refuse('a body must be depth, URL and referrer, a line each')
    end
    tasks[i] = at
    at = at + FIELDS
  end
  return tasks, at
end

-- How many more URLs of each host the run takes.
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

-- Order: what is seen first. It is a write that a full Redis refuses, so nothing is left half done.
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
    -- What this script settles later, and what stands in line and is not overtaken, stays as it is.
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
