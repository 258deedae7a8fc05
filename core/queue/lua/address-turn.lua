#!lua flags=allow-oom
-- The turn of an address, which several hosts may share. Hosts that have to wait stand in line, and each is told when those
-- before it will have had their turns; a free turn is the first one's. Is it not taken for GRACE, then whoever asks has it, and
-- those before are struck off: their work was cancelled, or their worker died. They lose their place, no more. All that is kept
-- is order, never a time to come, so that another delay is in force with the next turn.
-- KEYS   the frontier's, then address → next turn (zset, ms), and the address's line: host → number (zset)
-- ARGV   address, host, ms between two turns of one address
-- reply  ms to wait before asking again; 0: it is the host's turn, which is taken
-- repeat after a lost reply that was 0 one turn is left unused
-- writes the two, META.seq
-- include meta
local TURNS, LINE = KEYS[18], KEYS[19]
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
-- How late the first in line may be (a claim takes a worker a second at most), and how many are struck off in one call.
local GRACE, STRIKES = 2000, 500
-- Nobody is told to come back later than this, or so late that all in line together ask 100 times a second.
local length = redis.call('ZCARD', LINE)
local longest = math.max(60000, 10 * length)

-- A clock that was set back, or a longer delay that is no more, must not leave a turn far off.
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
