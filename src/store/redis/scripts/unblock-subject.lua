-- KEYS[4] blocked principals (sorted set by time)  ARGV[4] ID of the principal
-- Returns the position of the change, or 0 where it was not blocked.
if redis.call('ZREM', KEYS[4], ARGV[4]) == 0 then return log_nothing() end
return log_change('subject', ARGV[4])
