-- Makes what was restored a store: only its ID lets gateways use it.
-- KEYS[4] the restore  KEYS[5] format  KEYS[6] receivers of events: they get nothing of the restored audit log
-- ARGV[4] who writes it  ARGV[5] ID of the store  ARGV[6] the least position before that of the change  ARGV[7] the format
-- Returns the position of a change for which every process drops all that it knows, or 0 where it is another's by now.
local writer = string.match(redis.call('GET', KEYS[4]) or '', '^(%S+) ')
if writer ~= ARGV[4] or redis.call('EXISTS', KEYS[3]) == 1 then return 0 end
redis.call('SET', KEYS[3], ARGV[5])
redis.call('SET', KEYS[5], ARGV[7])
redis.call('SET', KEYS[2], string.format('%.0f', math.max(tonumber(redis.call('GET', KEYS[2]) or 0), tonumber(ARGV[6]))))
redis.call('DEL', KEYS[4])
redis.call('DEL', KEYS[6])
return log_change('signing-keys', '')
