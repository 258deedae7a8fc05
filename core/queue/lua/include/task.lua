-- include meta
-- A task's record: `state|token|deliveries|attempts|begun|priority|seq|at|hard|host|body`.
-- state: p pending, r running, t retry, f failed; at: claimed (r), due (t) or died (f), in ms; host holds no `|`.
-- body: `depth\nurl\nreferrer[\nmeta]`, for the caller alone: what users send is never parsed here beyond its URL.
local function parse(text)
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

-- All scores are 0, so that text order rules: host, then highest priority, then arrival.
local function pending_member(ref, host, priority, order)
  return string.format('%s\0%04d\0%012d\0%s', host, 1000 - priority, order, ref)
end
-- Text order again: a run's dead letters lie together, oldest first.
local function dead_member(ref, task)
  local run, id = ref:match('^(%d+):(.+)$')
  return string.format('%s\0%013d\0%s', run, task.at, id)
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
