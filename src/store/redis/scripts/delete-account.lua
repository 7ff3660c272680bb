-- Removes an account and its name; its sessions are over without it and go when their time is up.
-- KEYS[3] e-mails (hash)  KEYS[4] IDs (sorted set)  KEYS[5] the account  KEYS[6] its sessions
-- ARGV[3] ID
local email = redis.call('HGET', KEYS[5], 'emailKey')
if not email then return 0 end
redis.call('HDEL', KEYS[3], email)
redis.call('ZREM', KEYS[4], ARGV[3])
redis.call('DEL', KEYS[5], KEYS[6])
log_change('account', ARGV[3])
return 1
