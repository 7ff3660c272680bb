-- Updates a portal session's last use, if it still exists.
-- KEYS[1] portal sessions of the account (hash)  KEYS[2] last active days (sorted set)
-- ARGV[1] session ID  ARGV[2] its new text  ARGV[3] ID of the account  ARGV[4] the day
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
  redis.call('ZADD', KEYS[2], 'GT', ARGV[4], ARGV[3])
end
return 1
