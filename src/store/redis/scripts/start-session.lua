-- Starts a session unless the account has changed since it was read.
-- KEYS[1] the account  KEYS[2] the session  KEYS[3] sessions of the account (sorted set by end)
-- ARGV[1] revision that was read  ARGV[2] session ID  ARGV[3] now  ARGV[4] lives until  ARGV[5] kept until
-- ARGV[6] its fields as a JSON list
local text = redis.call('GET', KEYS[1])
local account = text and cjson.decode(text)
if not account or account.revision ~= tonumber(ARGV[1]) or account.isDisabled then return 0 end
redis.call('HSET', KEYS[2], 'sessionEpoch', account.sessionEpoch, unpack(cjson.decode(ARGV[6])))
redis.call('PEXPIREAT', KEYS[2], ARGV[5])
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[3])
redis.call('ZADD', KEYS[3], ARGV[4], ARGV[2])
redis.call('PEXPIREAT', KEYS[3], ARGV[5], 'GT')
redis.call('PEXPIREAT', KEYS[3], ARGV[5], 'NX')
return 1
