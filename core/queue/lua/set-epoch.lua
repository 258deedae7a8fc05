#!lua flags=allow-oom
-- Raises the epoch; tokens of older epochs hold nothing from then on, and their leases lapse.
-- KEYS   the frontier's
-- ARGV   epoch
-- reply  the epoch in force
-- repeat raises only, never lowers
-- writes META alone
-- include frontier
expect('hash', META)
if #ARGV ~= 1 then
  refuse('set-epoch takes 1 argument, got ' .. #ARGV)
end
local epoch = integer(ARGV[1], 'epoch', 0, 999999)
if epoch > tonumber(redis.call('HGET', META, 'epoch') or 0) then
  redis.call('HSET', META, 'epoch', epoch)
end
return tonumber(redis.call('HGET', META, 'epoch') or 0)
