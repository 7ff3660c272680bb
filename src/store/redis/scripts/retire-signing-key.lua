-- Removes a signing key.
-- KEYS[3] signing keys (hash)  ARGV[3] key ID
if redis.call('HDEL', KEYS[3], ARGV[3]) == 0 then return 0 end
log_change('signing-keys', '')
return 1
