-- Ends a session that has not ended yet.
-- KEYS[3] the session  ARGV[3] session ID  ARGV[4] reason
if redis.call('EXISTS', KEYS[3]) == 0 or redis.call('HSETNX', KEYS[3], 'end', ARGV[4]) == 0 then return 0 end
log_change('session', ARGV[3])
return 1
