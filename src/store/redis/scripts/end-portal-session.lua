-- Ends a portal session.
-- KEYS[1] portal sessions of the account (hash)  ARGV[1] session ID
-- Returns 1, or 0 where there is none.
return redis.call('HDEL', KEYS[1], ARGV[1])
