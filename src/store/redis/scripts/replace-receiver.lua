-- Replaces what is kept of a receiver of events if it is still what it was.
-- KEYS[1] receivers (hash)  ARGV[1] ID of the receiver  ARGV[2] what is kept; '' = nothing  ARGV[3] what replaces it
-- Returns whether it was replaced.
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
