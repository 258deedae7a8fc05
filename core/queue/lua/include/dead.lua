-- include task
-- include counts
-- ISO 8601 in UTC from ms (civil-from-days, proleptic Gregorian).
local function iso(ms)
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

-- FAILED and REJECTED are for readers outside, who may never come: each keeps its newest entries.
local KEPT = 10000
local function tell(list, entries)
  redis.call('RPUSH', list, unpack(entries))
  redis.call('LTRIM', list, -KEPT, -1)
end

-- The running task becomes a dead letter; its record stays for a re-drive. cjson only ever sees strings: it cannot fail.
local function to_dead(ref, task, reason)
  local url = task.body:match('^%d+\n([^\n]*)') or ''
  redis.call('ZREM', LEASED, ref)
  task.state, task.token, task.begun, task.at, task.hard = 'f', '0', '0', string.format('%.0f', now), '0'
  save_task(ref, task)
  redis.call('ZADD', DEAD, 0, dead_member(ref, task))
  tell(FAILED, { '{"url":' .. cjson.encode(url) .. ',"run":' .. run_in(ref) .. ',"reason":'
    .. cjson.encode(reason) .. ',"at":"' .. iso(now) .. '"}' })
  move(run_in(ref), 'running', 'failed')
  count('total', 'failed', 1)
end
