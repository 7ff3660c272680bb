-- Saves an account unless it has changed since it was read, its new e-mail is taken, or an imported key that it gains,
-- or a person at an OpenID provider that it is then linked with, is another account's.
-- KEYS[4] e-mails (hash)  KEYS[5] the account  KEYS[6] terms (sorted set)  KEYS[7] imported keys (hash)
-- KEYS[8] identities at OpenID providers (hash)  KEYS[9] another Admin, or the account itself
-- ARGV[4] ID  ARGV[5] revision that was read  ARGV[6] old e-mail key  ARGV[7] new e-mail key
-- ARGV[8] the account as JSON  ARGV[9] '1' where its terms are others now
-- ARGV[10] digests of imported keys that it gains, separated by spaces  ARGV[11] of those that it loses
-- ARGV[12] identities that it loses  ARGV[13] that it gains, both as JSON lists
-- ARGV[14] the role of Admins where it is one no more, or is disabled, else ''
-- Returns the position of the change, 'changed', 'exists', 'taken' or 'last-admin'.
local text = redis.call('GET', KEYS[5])
local account = text and cjson.decode(text)
if not account or account.revision ~= tonumber(ARGV[5]) then return 'changed' end
if ARGV[14] ~= '' then
  local other = redis.call('GET', KEYS[9])
  local admin = KEYS[9] ~= KEYS[5] and other and cjson.decode(other)
  if not admin or admin.role ~= ARGV[14] or admin.isDisabled then return 'last-admin' end
end
for digest in string.gmatch(ARGV[10], '%S+') do
  local holder = redis.call('HGET', KEYS[7], digest)
  if holder and holder ~= ARGV[4] then return 'taken' end
end
local gained = cjson.decode(ARGV[13])
for _, key in ipairs(gained) do
  local holder = redis.call('HGET', KEYS[8], key)
  if holder and holder ~= ARGV[4] then return 'taken' end
end
if ARGV[6] ~= ARGV[7] then
  if redis.call('HEXISTS', KEYS[4], ARGV[7]) == 1 then return 'exists' end
  redis.call('HDEL', KEYS[4], ARGV[6])
  redis.call('HSET', KEYS[4], ARGV[7], ARGV[4])
end
if ARGV[9] == '1' then
  for _, term in ipairs(account.terms or {}) do redis.call('ZREM', KEYS[6], term .. '\0' .. ARGV[4]) end
  for _, term in ipairs(cjson.decode(ARGV[8]).terms) do redis.call('ZADD', KEYS[6], 0, term .. '\0' .. ARGV[4]) end
end
for digest in string.gmatch(ARGV[11], '%S+') do
  if redis.call('HGET', KEYS[7], digest) == ARGV[4] then redis.call('HDEL', KEYS[7], digest) end
end
for digest in string.gmatch(ARGV[10], '%S+') do redis.call('HSET', KEYS[7], digest, ARGV[4]) end
for _, key in ipairs(cjson.decode(ARGV[12])) do
  if redis.call('HGET', KEYS[8], key) == ARGV[4] then redis.call('HDEL', KEYS[8], key) end
end
for _, key in ipairs(gained) do redis.call('HSET', KEYS[8], key, ARGV[4]) end
redis.call('SET', KEYS[5], ARGV[8])
return log_change('account', ARGV[4])
