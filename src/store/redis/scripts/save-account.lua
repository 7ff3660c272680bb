-- Saves an account unless it has changed since it was read, or its new e-mail is taken.
-- KEYS[3] e-mails (hash)  KEYS[4] the account
-- ARGV[3] ID  ARGV[4] revision that was read  ARGV[5] old e-mail key  ARGV[6] new e-mail key
-- ARGV[7] its fields as a JSON list
if redis.call('HGET', KEYS[4], 'revision') ~= ARGV[4] then return 'changed' end
if ARGV[5] ~= ARGV[6] then
  if redis.call('HEXISTS', KEYS[3], ARGV[6]) == 1 then return 'exists' end
  redis.call('HDEL', KEYS[3], ARGV[5])
  redis.call('HSET', KEYS[3], ARGV[6], ARGV[3])
end
redis.call('DEL', KEYS[4])
redis.call('HSET', KEYS[4], unpack(cjson.decode(ARGV[7])))
log_change('account', ARGV[3])
return 'saved'
