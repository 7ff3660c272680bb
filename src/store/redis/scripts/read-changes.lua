-- The state of the change log and its entries from a position on, read in one step.
-- KEYS[1] log (stream)  KEYS[2] head (counter)  KEYS[3] store ID  KEYS[4] format
-- ARGV[1] position, or '' for the last entries  ARGV[2] how many entries are sent at most
-- Returns head, store ID, the time in ms, entries, format.
local head = tonumber(redis.call('GET', KEYS[2]) or 0)
local id = redis.call('GET', KEYS[3])
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local first = tonumber(ARGV[1]) or math.max(0, head - ARGV[2] + 1)
-- If there are none or too many, only the last entry: enough to see that, and to compare with the next reading.
if first > head or head - first > tonumber(ARGV[2]) then first = head end
local entries = redis.call('XRANGE', KEYS[1], first .. '-0', '+')
return { head, id or '', now, entries, redis.call('GET', KEYS[4]) or '' }
