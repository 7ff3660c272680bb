-- Ends a session that has not ended yet.
-- KEYS[4] the session  ARGV[4] session ID  ARGV[5] reason
-- Answers the position of the change, or 0 where there is nothing to end.
if redis.call('EXISTS', KEYS[4]) == 0 or redis.call('HSETNX', KEYS[4], 'end', ARGV[5]) == 0 then return log_nothing() end
return log_change('session', ARGV[4])
