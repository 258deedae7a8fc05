-- Every script gets the queue's own keys first, in this order (`frontierKeys` in keys.ts); the seen keys of runs,
-- where a script admits, follow them.
local PENDING, TASKS, READY, TURN, HOST, IDLE, DELAYED, LEASED, DEAD, ACKED, RUNS, COUNTS, META, INBOX, FAILED, REJECTED,
  CLAIMS = unpack(KEYS, 1, 17)
local FRONTIER = 17

-- Refusals come before the first write: a script that fails after one is half applied.
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

-- Each key must be missing or of this type.
local function expect(kind, ...)
  for _, key in ipairs({ ... }) do
    local found = redis.call('TYPE', key).ok
    if found ~= kind and found ~= 'none' then
      refuse('key ' .. key .. ' is a ' .. found .. ' where the queue keeps a ' .. kind .. '; rename it')
    end
  end
end

-- Redis's clock is the only one: the workers' clocks never matter.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
