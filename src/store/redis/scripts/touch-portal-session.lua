-- Updates a portal session's last use, if it still exists.
-- KEYS[1] portal sessions of the account (hash)  ARGV[1] session ID  ARGV[2] its new text
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return 1
