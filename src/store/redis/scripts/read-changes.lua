-- The state of the change log and what it has from a position on, as one picture.
-- KEYS[1] log (stream)  KEYS[2] head (counter)  KEYS[3] store ID
-- ARGV[1] position, or '' for the last ARGV[2] entries
-- Answers head, store ID, the time in ms, entries.
local head = tonumber(redis.call('GET', KEYS[2]) or 0)
local id = redis.call('GET', KEYS[3])
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local entries = {}
if ARGV[1] == '' then
  entries = redis.call('XRANGE', KEYS[1], math.max(0, head - ARGV[2] + 1) .. '-0', '+')
elseif tonumber(ARGV[1]) <= head then
  entries = redis.call('XRANGE', KEYS[1], ARGV[1] .. '-0', '+')
end
return { head, id or '', now, entries }
