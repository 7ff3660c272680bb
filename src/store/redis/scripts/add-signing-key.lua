-- Adds a signing key; with ARGV[6] only if there is none of that algorithm yet.
-- KEYS[4] signing keys (hash)  KEYS[5] format
-- ARGV[4] key ID  ARGV[5] the key as JSON  ARGV[6] algorithm or ''  ARGV[7] the present format
-- Returns the position of the change, or 0 where it was not added.
if ARGV[6] ~= '' then
  for _, text in ipairs(redis.call('HVALS', KEYS[4])) do
    if cjson.decode(text).algorithm == ARGV[6] then return log_nothing() end
  end
end
claim_store()
redis.call('SET', KEYS[5], ARGV[7], 'NX')
redis.call('HSET', KEYS[4], ARGV[4], ARGV[5])
return log_change('signing-keys', '')
