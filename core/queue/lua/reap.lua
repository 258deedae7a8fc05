#!lua flags=allow-oom
-- Takes lapsed leases back. A task that has begun as often as allowed is a dead letter: it may be what ends its workers.
-- Forgets hosts that have been idle long enough and old tokens on the way.
-- KEYS   the frontier's
-- ARGV   limit (≤ 500), maxDeliveries
-- reply  number returned to pending, then ref and body of each new dead letter
-- repeat decided on the state there is, so any number may run at once
-- writes TASKS, PENDING or DEAD and FAILED, LEASED; hosts, counts
-- include end-open
-- include held
-- include dead
expect('hash', TASKS, HOST, COUNTS, RUNS)
expect('zset', PENDING, READY, TURN, IDLE, LEASED, DEAD, ACKED)
expect('list', FAILED)
if #ARGV ~= 2 then
  refuse('reap takes 2 arguments, got ' .. #ARGV)
end
local most = integer(ARGV[1], 'limit', 1, 500)
local max_deliveries = integer(ARGV[2], 'maxDeliveries', 1, 1000000)
local reply = { 0 }
for _, ref in ipairs(redis.call('ZRANGEBYSCORE', LEASED, '-inf', now, 'LIMIT', 0, most)) do
  local task = load_task(ref)
  if not task then
    redis.call('ZREM', LEASED, ref)
  elseif cancelled(run_in(ref)) then
    end_open(ref, task, 'cancelled')
  else
    give_place_back(task.host)
    if task.begun == '1' and task.deliveries >= max_deliveries then
      to_dead(ref, task, 'worker_lost')
      reply[#reply + 1] = ref
      reply[#reply + 1] = task.body
    else
      to_pending(ref, task)
      redis.call('ZREM', LEASED, ref)
      move(run_in(ref), 'running', 'pending')
      reply[1] = reply[1] + 1
    end
  end
end
settle_hosts()
for _, name in ipairs(redis.call('ZRANGEBYSCORE', IDLE, '-inf', now - 1, 'LIMIT', 0, 200)) do
  redis.call('ZREM', IDLE, name)
  redis.call('HDEL', HOST, name)
end
forget_said()
save_counts()
save_seq()
return reply
