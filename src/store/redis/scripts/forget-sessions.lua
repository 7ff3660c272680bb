-- Removes sessions of an account that was deleted.
-- KEYS[1] sessions of the account (sorted set)  KEYS[2..] the sessions  ARGV[1..] their IDs
for i = 2, #KEYS do
  redis.call('DEL', KEYS[i])
  redis.call('ZREM', KEYS[1], ARGV[i - 1])
end
return 1
