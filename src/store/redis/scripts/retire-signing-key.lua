-- Removes a signing key.
-- KEYS[4] signing keys (hash)  ARGV[4] key ID
-- Returns the position of the change, or 0 where there is no such key.
if redis.call('HDEL', KEYS[4], ARGV[4]) == 0 then return log_nothing() end
return log_change('signing-keys', '')
