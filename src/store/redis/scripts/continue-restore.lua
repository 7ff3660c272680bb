-- Keeps a restore alive. To be run before each of its writes.
-- KEYS[1] the restore  ARGV[1] who writes it
-- Returns 1, or 0 where it is another's by now.
local writer = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) ')
if writer ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
redis.call('SET', KEYS[1], string.format('%s %.0f', ARGV[1], time[1] * 1000 + math.floor(time[2] / 1000)))
return 1
