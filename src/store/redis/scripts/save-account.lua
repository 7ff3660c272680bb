-- Saves an account unless it has changed since it was read, or its new e-mail is taken.
-- KEYS[4] e-mails (hash)  KEYS[5] the account  KEYS[6] terms (sorted set)
-- ARGV[4] ID  ARGV[5] revision that was read  ARGV[6] old e-mail key  ARGV[7] new e-mail key
-- ARGV[8] the account as JSON  ARGV[9] '1' where its terms are others now
-- Returns the position of the change, 'changed' or 'exists'.
local text = redis.call('GET', KEYS[5])
local account = text and cjson.decode(text)
if not account or account.revision ~= tonumber(ARGV[5]) then return 'changed' end
if ARGV[6] ~= ARGV[7] then
  if redis.call('HEXISTS', KEYS[4], ARGV[7]) == 1 then return 'exists' end
  redis.call('HDEL', KEYS[4], ARGV[6])
  redis.call('HSET', KEYS[4], ARGV[7], ARGV[4])
end
if ARGV[9] == '1' then
  for _, term in ipairs(account.terms or {}) do redis.call('ZREM', KEYS[6], term .. '\0' .. ARGV[4]) end
  for _, term in ipairs(cjson.decode(ARGV[8]).terms) do redis.call('ZADD', KEYS[6], 0, term .. '\0' .. ARGV[4]) end
end
redis.call('SET', KEYS[5], ARGV[8])
return log_change('account', ARGV[4])
