-- Creates all accounts; or none, and answers the indexes (from 0) of those whose e-mail is taken.
-- KEYS[4] e-mails (hash)  KEYS[5] IDs (sorted set by the time of creation)  KEYS[6] terms (sorted set)
-- KEYS[7] format  KEYS[8..] the accounts
-- ARGV[4] the present format  ARGV[5..] for each account: e-mail key, ID, when it was created, the account as JSON, its terms, one a line
local taken = {}
local seen = {}
for i = 5, #ARGV, 5 do
  local email = ARGV[i]
  if seen[email] or redis.call('HEXISTS', KEYS[4], email) == 1 then taken[#taken + 1] = (i - 5) / 5 end
  seen[email] = true
end
if #taken > 0 then return taken end
claim_store()
redis.call('SET', KEYS[7], ARGV[4], 'NX')
for i = 5, #ARGV, 5 do
  redis.call('HSET', KEYS[4], ARGV[i], ARGV[i + 1])
  redis.call('ZADD', KEYS[5], ARGV[i + 2], ARGV[i + 1])
  for term in string.gmatch(ARGV[i + 4], '[^\n]+') do
    redis.call('ZADD', KEYS[6], 0, term .. '\0' .. ARGV[i + 1])
  end
  redis.call('SET', KEYS[8 + (i - 5) / 5], ARGV[i + 3])
end
return taken
