-- Hands out the next refresh token unless session or account have changed since they were judged.
-- KEYS[1] the account  KEYS[2] the session  KEYS[3] sessions of the account (sorted set by end)
-- ARGV[1] revision judged  ARGV[2] generation judged  ARGV[3] session ID  ARGV[4] now  ARGV[5] lives until
-- ARGV[6] kept until  ARGV[7] address  ARGV[8] client
local text = redis.call('GET', KEYS[1])
if not text or cjson.decode(text).revision ~= tonumber(ARGV[1]) then return 0 end
local session = redis.call('HMGET', KEYS[2], 'generation', 'end')
if session[1] ~= ARGV[2] or session[2] then return 0 end
redis.call('HSET', KEYS[2], 'generation', ARGV[2] + 1, 'rotatedAt', ARGV[4], 'address', ARGV[7], 'client', ARGV[8])
redis.call('PEXPIREAT', KEYS[2], ARGV[6])
redis.call('ZADD', KEYS[3], ARGV[5], ARGV[3])
redis.call('PEXPIREAT', KEYS[3], ARGV[6], 'GT')
return 1
