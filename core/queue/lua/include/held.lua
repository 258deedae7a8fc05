-- include task
-- include counts
-- The task, if this token holds it. A token of an older epoch holds nothing: Redis may have gone back in time since.
local function held(ref, token)
  if token:sub(1, 6) ~= EPOCH or cancelled(run_in(ref)) then
    return nil
  end
  local task = load_task(ref)
  if task and task.state == 'r' and task.token == token then
    return task
  end
  return nil
end

-- What a token said last is remembered for a minute, so that a repeat after a lost reply is told apart from a stale holder.
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
