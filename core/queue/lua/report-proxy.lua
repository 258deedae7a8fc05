#!lua flags=allow-oom
-- Notes what became of a fetch through a proxy, for all workers.
--   good    it served; whatever was wrong with it is forgotten
--   bad     it did not: from the second time in a row on it rests, for 30 s, 1, 2, 4 … min, half an hour at most
--   banned  it served, and the site turned it away: for that host it rests ten minutes
-- KEYS   the frontier's, then the health of the queue's proxies (hash), and their bans (zset)
-- ARGV   the proxy's id, good|bad|banned, host
-- reply  ms since 1970 until which it rests, 0 for not at all
-- repeat counts once more
-- writes the two alone
-- include meta
local HEALTH, BANS = KEYS[18], KEYS[19]
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
-- A record: `score|failures in a row|rests until|uses`; the score is a mean that forgets, 1000 at best.
local score, streak, rest, uses = (redis.call('HGET', HEALTH, id) or ''):match('^(%d+)|(%d+)|(%d+)|(%d+)$')
score, streak, rest, uses = tonumber(score or 1000), tonumber(streak or 0), tonumber(rest or 0), tonumber(uses or 0)
if what == 'bad' then
  score = math.floor(score * 0.8)
  -- What was under way when it went to rest tells nothing new.
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
