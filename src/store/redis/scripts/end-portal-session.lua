-- Ends a portal session.
-- KEYS[4] portal sessions of the account (hash)  ARGV[4] session ID
-- Answers 1, or 0 where there is none.
return redis.call('HDEL', KEYS[4], ARGV[4])
