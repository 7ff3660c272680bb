-- Adds a signing key; with ARGV[5] only where there is none of its algorithm yet.
-- KEYS[3] signing keys (hash)  ARGV[3] key ID  ARGV[4] the key as JSON  ARGV[5] algorithm or ''
if ARGV[5] ~= '' then
  for _, text in ipairs(redis.call('HVALS', KEYS[3])) do
    if cjson.decode(text).algorithm == ARGV[5] then return 0 end
  end
end
redis.call('HSET', KEYS[3], ARGV[3], ARGV[4])
log_change('signing-keys', '')
return 1
