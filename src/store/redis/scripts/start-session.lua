-- Starts a session unless the account has changed since it was read.
-- KEYS[1] the account  KEYS[2] the session  KEYS[3] sessions of the account (sorted set by end)
-- ARGV[1] revision that was read  ARGV[2] session ID  ARGV[3] now  ARGV[4] lives until  ARGV[5] kept until
-- ARGV[6] its fields as a JSON list
local account = redis.call('HMGET', KEYS[1], 'revision', 'isDisabled', 'sessionEpoch')
if account[1] ~= ARGV[1] or account[2] ~= '0' then return 0 end
redis.call('HSET', KEYS[2], 'sessionEpoch', account[3], unpack(cjson.decode(ARGV[6])))
redis.call('PEXPIREAT', KEYS[2], ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[3])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[2])
redis.call('PEXPIREAT', KEYS[3], ARGV[5], 'GT')
redis.call('PEXPIREAT', KEYS[3], ARGV[5], 'NX')
return 1
