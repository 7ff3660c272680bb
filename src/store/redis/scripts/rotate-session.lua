-- Issues the next refresh token unless session or account have changed since the decision. Not acknowledged yet.
-- KEYS[1] the account  KEYS[2] the session  KEYS[3] sessions of the account (sorted set by end)
-- ARGV[1] expected revision  ARGV[2] expected generation  ARGV[3] next generation  ARGV[4] session ID  ARGV[5] now
-- ARGV[6] lives until  ARGV[7] kept until  ARGV[8] address  ARGV[9] client
local text = redis.call('GET', KEYS[1])
if not text or cjson.decode(text).revision ~= tonumber(ARGV[1]) then return 0 end
local session = redis.call('HMGET', KEYS[2], 'generation', 'end')
if session[1] ~= ARGV[2] or session[2] then return 0 end
redis.call('HSET', KEYS[2], 'generation', ARGV[3], 'rotatedAt', ARGV[5], 'acknowledgedAt', '0', 'address', ARGV[8],
  'client', ARGV[9])
redis.call('PEXPIREAT', KEYS[2], ARGV[7])
redis.call('ZADD', KEYS[3], ARGV[6], ARGV[4])
redis.call('PEXPIREAT', KEYS[3], ARGV[7], 'GT')
return 1
