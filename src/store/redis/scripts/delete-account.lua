-- Removes an account, its index entries and all else that has its own key. Its sessions are removed afterwards, a few
-- at a time: without their account they are invalid.
-- KEYS[4] e-mails (hash)  KEYS[5] IDs (sorted set)  KEYS[6] terms (sorted set)  KEYS[7] imported keys (hash)
-- KEYS[8] identities at OpenID providers (hash)  KEYS[9] last active days (sorted set)
-- KEYS[10] another Admin, or the account itself  KEYS[11] the account  KEYS[12..] all else that it has  ARGV[4] ID  ARGV[5] the role of Admins
-- Returns the position of the change, 0 where there is no such account, or 'last-admin'.
local text = redis.call('GET', KEYS[11])
if not text then return log_nothing() end
local account = cjson.decode(text)
if account.role == ARGV[5] and not account.isDisabled then
  local other = redis.call('GET', KEYS[10])
  local admin = KEYS[10] ~= KEYS[11] and other and cjson.decode(other)
  if not admin or admin.role ~= ARGV[5] or admin.isDisabled then return 'last-admin' end
end
redis.call('HDEL', KEYS[4], account.emailKey)
redis.call('ZREM', KEYS[5], ARGV[4])
for _, term in ipairs(account.terms or {}) do redis.call('ZREM', KEYS[6], term .. '\0' .. ARGV[4]) end
for _, key in ipairs(account.furtherKeys or {}) do
  if key.isImported and redis.call('HGET', KEYS[7], key.digest) == ARGV[4] then redis.call('HDEL', KEYS[7], key.digest) end
end
local portal = account.portal or {}
-- Before there were several providers, an account had one identity.
for _, identity in ipairs(portal.identities or { portal.identity }) do
  local key = identity.issuer .. ' ' .. identity.subject
  if redis.call('HGET', KEYS[8], key) == ARGV[4] then redis.call('HDEL', KEYS[8], key) end
end
redis.call('ZREM', KEYS[9], ARGV[4])
for i = 11, #KEYS do redis.call('UNLINK', KEYS[i]) end
return log_change('account', ARGV[4])
