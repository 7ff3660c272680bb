-- Removes an account, its name and its sessions, unless it has got others since they were read.
-- KEYS[4] e-mails (hash)  KEYS[5] IDs (sorted set)  KEYS[6] the account  KEYS[7] its sessions (sorted set)
-- KEYS[8..] each session  ARGV[4] ID  ARGV[5..] IDs of the sessions
-- Answers the position of the change, 0 where there is no such account, or 'changed'.
local text = redis.call('GET', KEYS[6])
if not text then return log_nothing() end
local known = {}
for i = 5, #ARGV do known[ARGV[i]] = true end
for _, session in ipairs(redis.call('ZRANGE', KEYS[7], 0, -1)) do
  if not known[session] then return 'changed' end
end
redis.call('HDEL', KEYS[4], cjson.decode(text).emailKey)
redis.call('ZREM', KEYS[5], ARGV[4])
for i = 6, #KEYS do redis.call('DEL', KEYS[i]) end
return log_change('account', ARGV[4])
