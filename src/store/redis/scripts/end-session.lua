-- Ends a session that has not ended yet.
-- KEYS[4] the session  KEYS[5] open sessions of the account (sorted set)  ARGV[4] session ID  ARGV[5] reason
-- Returns the position of the change, or 0 where there is nothing to end.
if redis.call('EXISTS', KEYS[4]) == 0 or redis.call('HSETNX', KEYS[4], 'end', ARGV[5]) == 0 then return log_nothing() end
redis.call('ZREM', KEYS[5], ARGV[4])
return log_change('session', ARGV[4])
