-- include frontier
expect('hash', META)
local now = clock()
local meta = redis.call('HMGET', META, 'epoch', 'seq', 'delayMs', 'perHost', 'maxRunning', 'paused', 'version', 'draining',
  'adaptive')
local EPOCH = string.format('%06d', tonumber(meta[1] or 0))

-- One counter for arrival, turn and token: all three only need to grow.
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

-- A queue that nobody configured is polite.
local delay_ms = tonumber(meta[3] or 1000)
local per_host = tonumber(meta[4] or 1)
-- Whether hosts' answers slow it down.
local adaptive = meta[9] ~= '0'
