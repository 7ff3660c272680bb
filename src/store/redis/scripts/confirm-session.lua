-- Writes again which refresh token is current, unless session or account have changed since the decision: waiting
-- until the replicas have this write means that they have the rotation too.
-- KEYS[1] the account  KEYS[2] the session  ARGV[1] expected revision  ARGV[2] expected generation
local text = redis.call('GET', KEYS[1])
if not text or cjson.decode(text).revision ~= tonumber(ARGV[1]) then return 0 end
local session = redis.call('HMGET', KEYS[2], 'generation', 'end')
if session[1] ~= ARGV[2] or session[2] then return 0 end
redis.call('HSET', KEYS[2], 'generation', ARGV[2])
return 1
