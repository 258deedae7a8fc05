-- include frontier
-- Changes are summed up and written once a field.
local changes = {}
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

-- `state|maxPages[.maxPagesPerHost]|dedupe`, 0 for no cap.
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
