-- include counts
-- The dedupe memory of runs, as the caller describes it: ARGV holds the number of runs, then for each
--   run, dedupe (must equal the run's own), kind (exact|bloom), buckets, chunks, bits, hashes, ttl (s, 0 for none)
-- and KEYS, after the frontier's, buckets × chunks seen keys a run; new ids go to the first bucket. After them one more: the
-- hash host → URLs of it that the run has admitted, kept for runs with a budget a host.
local seen_of = {}
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
    -- The caller remembers where a run keeps what it has seen; after a loss of Redis it may be elsewhere.
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

-- Bloom: the id is a hash already. Its parts choose the chunk, and by enhanced double hashing the bits within it.
-- Answers the bits when the id is new to every bucket, and the key of its chunk in the first.
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
    -- The first bit alone tells most new ids.
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

-- Which of `ids` the run has not seen: id → true (exact) or its bits and their key (Bloom).
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

-- Writes ids (from `unseen_of`) to the first bucket.
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
