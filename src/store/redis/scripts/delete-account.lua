-- Removes an account and its name; its sessions are over without it and go when their time is up.
-- KEYS[4] e-mails (hash)  KEYS[5] IDs (sorted set)  KEYS[6] the account  KEYS[7] its sessions
-- ARGV[4] ID
-- Answers the position of the change, or 0 where there is no such account.
local text = redis.call('GET', KEYS[6])
if not text then return 0 end
redis.call('HDEL', KEYS[4], cjson.decode(text).emailKey)
redis.call('ZREM', KEYS[5], ARGV[4])
redis.call('DEL', KEYS[6], KEYS[7])
return log_change('account', ARGV[4])
