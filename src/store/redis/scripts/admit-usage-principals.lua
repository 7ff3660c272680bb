-- Notes principals whose usage is counted, up to a number of them.
-- KEYS[1] principals (sorted set by the day of their last use)
-- ARGV[1] how many there may be  ARGV[2] today  ARGV[3] the first day that is kept  ARGV[4..] IDs
-- One that ends with a colon stands for all others of its issuer, and always has room.
-- Returns those for which there is no room.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. ARGV[3])
local room = tonumber(ARGV[1]) - redis.call('ZCARD', KEYS[1])
local refused = {}
for i = 4, #ARGV do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) then redis.call('ZADD', KEYS[1], 'GT', ARGV[2], ARGV[i])
  elseif room > 0 or string.sub(ARGV[i], -1) == ':' then
    redis.call('ZADD', KEYS[1], ARGV[2], ARGV[i])
    room = room - 1
  else refused[#refused + 1] = ARGV[i] end
end
return refused
