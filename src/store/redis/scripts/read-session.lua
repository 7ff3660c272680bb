-- A session with its account: both are needed to judge a refresh token.
-- KEYS[1] the session  ARGV[1] key of an account, less its ID: which one, only the session tells; same slot
local session = redis.call('HGETALL', KEYS[1])
if #session == 0 then return {session} end
return {session, redis.call('GET', ARGV[1] .. redis.call('HGET', KEYS[1], 'accountId'))}
