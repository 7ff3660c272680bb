-- Adds sessions that were started before there was an index of open ones.
-- KEYS[1] open sessions (sorted set by start, newest first)  ARGV[1] kept until  ARGV[2..] score and ID of each
for i = 2, #ARGV, 2 do redis.call('ZADD', KEYS[1], 'NX', ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIREAT', KEYS[1], ARGV[1], 'GT')
redis.call('PEXPIREAT', KEYS[1], ARGV[1], 'NX')
return 1
