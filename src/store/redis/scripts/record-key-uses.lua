-- Keeps the latest use of each key that an account has now; uses of other keys are removed.
-- KEYS[1] last active days of accounts (sorted set)  KEYS[2..] for each use: the account, uses of its keys (hash)
-- ARGV for each use: digest of the key, time, `time scheme address`, the account's ID
for i = 1, (#KEYS - 1) / 2 do
  local text = redis.call('GET', KEYS[2 * i])
  local uses = KEYS[2 * i + 1]
  local digest, at, use, id = ARGV[4 * i - 3], tonumber(ARGV[4 * i - 2]), ARGV[4 * i - 1], ARGV[4 * i]
  local account = text and cjson.decode(text) or {}
  local current = {}
  for _, name in ipairs({ 'secretKey', 'previousSecretKey', 'apiKey' }) do
    if account[name] then current[account[name].digest] = true end
  end
  for _, key in ipairs(account.furtherKeys or {}) do current[key.digest] = true end
  if current[digest] then
    redis.call('ZADD', KEYS[1], 'GT', math.floor(at / 86400000), id)
    local known = redis.call('HGET', uses, digest)
    if not known or tonumber(string.match(known, '^%d+')) < at then redis.call('HSET', uses, digest, use) end
    for _, other in ipairs(redis.call('HKEYS', uses)) do
      if not current[other] then redis.call('HDEL', uses, other) end
    end
  end
end
return 1
