-- Blocks a principal of a foreign issuer; one that is blocked keeps its time.
-- KEYS[4] blocked principals (sorted set by time)  KEYS[5] format
-- ARGV[4] ID of the principal  ARGV[5] time  ARGV[6] the present format
-- Returns the position of the change, or 0 where it was blocked already.
if redis.call('ZADD', KEYS[4], 'NX', ARGV[5], ARGV[4]) == 0 then return log_nothing() end
claim_store()
redis.call('SET', KEYS[5], ARGV[6], 'NX')
return log_change('subject', ARGV[4])
