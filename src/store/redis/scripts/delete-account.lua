-- Removes an account, its index entries and its sessions, unless it has got new sessions since they were read.
-- KEYS[4] e-mails (hash)  KEYS[5] IDs (sorted set)  KEYS[6] terms (sorted set)  KEYS[7] the account
-- KEYS[8] its sessions (sorted set)  KEYS[9..] all else it has, each session included
-- ARGV[4] ID  ARGV[5..] IDs of the sessions
-- Answers the position of the change, 0 where there is no such account, or 'changed'.
local text = redis.call('GET', KEYS[7])
if not text then return log_nothing() end
local known = {}
for i = 5, #ARGV do known[ARGV[i]] = true end
for _, session in ipairs(redis.call('ZRANGE', KEYS[8], 0, -1)) do
  if not known[session] then return 'changed' end
end
local account = cjson.decode(text)
redis.call('HDEL', KEYS[4], account.emailKey)
redis.call('ZREM', KEYS[5], ARGV[4])
for _, term in ipairs(account.terms or {}) do redis.call('ZREM', KEYS[6], term .. '\0' .. ARGV[4]) end
for i = 7, #KEYS do redis.call('DEL', KEYS[i]) end
return log_change('account', ARGV[4])
