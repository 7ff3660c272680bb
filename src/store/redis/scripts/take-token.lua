-- One request against a rate (GCRA): as many at once as the limit, then one each time a place has become free.
-- KEYS[1] the time at which all that was taken will have been given back, in us
-- ARGV[1] limit  ARGV[2] period in ms
-- Answers allowed (0 or 1), remaining, ms until one more is allowed, ms until all are.
local period = ARGV[2] * 1000
local interval = period / ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + interval
local excess = full - period - now
if excess > 0.5 then
  return { 0, 0, math.ceil(excess / 1000), math.ceil((full - interval - now) / 1000) }
end
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return { 1, math.floor((period - (full - now)) / interval + 0.001), 0, math.ceil((full - now) / 1000) }
