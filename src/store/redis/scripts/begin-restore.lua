-- Claims an empty store for a restore: until that is finished, no new store begins here, and nobody takes it for empty.
-- KEYS[1] the restore: who writes it, and when last in ms  KEYS[2] store ID  KEYS[3..] what a store that is not empty has
-- ARGV[1] who claims it  ARGV[2] ms after which one that writes nothing counts as dead
-- Returns 'begun', 'resumed' where one that is dead has left something, 'busy', or the index of the key that is there.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local writer, at = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+)$')
if redis.call('EXISTS', KEYS[2]) == 1 then return 2 end
if writer and now - tonumber(at) < tonumber(ARGV[2]) then return 'busy' end
if not writer then
  for i = 3, #KEYS do
    if redis.call('EXISTS', KEYS[i]) == 1 then return i end
  end
end
redis.call('SET', KEYS[1], string.format('%s %.0f', ARGV[1], now))
return writer and 'resumed' or 'begun'
