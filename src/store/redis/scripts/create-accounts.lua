-- Makes all accounts, or none and answers the e-mails that are taken.
-- KEYS[3] e-mails (hash)  KEYS[4] IDs (sorted set)  KEYS[5..] the accounts
-- ARGV[3..] for each account: e-mail key, ID, its fields as a JSON list
local taken = {}
local seen = {}
for i = 3, #ARGV, 3 do
  local email = ARGV[i]
  if seen[email] or redis.call('HEXISTS', KEYS[3], email) == 1 then taken[#taken + 1] = email end
  seen[email] = true
end
if #taken > 0 then return taken end
for i = 3, #ARGV, 3 do
  redis.call('HSET', KEYS[3], ARGV[i], ARGV[i + 1])
  redis.call('ZADD', KEYS[4], 0, ARGV[i + 1])
  redis.call('HSET', KEYS[4 + (i / 3)], unpack(cjson.decode(ARGV[i + 2])))
end
return taken
