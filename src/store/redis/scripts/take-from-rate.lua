-- One request against a rate (GCRA): as many at once as the limit, then one each time a place has become free.
-- KEYS[1] a time in us, and how long from then until all that was taken will have been given back
-- ARGV[1] limit  ARGV[2] period in ms
-- Returns allowed (0 or 1), remaining, ms until one more is allowed, ms until all are.
local period = ARGV[2] * 1000
local interval = period / ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
-- Kept as a duration: an absolute time in us leaves a number no precision for fractions of an interval.
local at, owed = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (%S+)$')
local elapsed = math.max(0, now - (at or now))
local still = math.max(0, (owed or 0) - elapsed)
-- More is owed after a longer window, that of another plan or config: it counts as the whole limit of this one.
local before = math.min(still, period)
local after = before + interval
local excess = after - period
-- Less than a millionth of a place is rounding.
if excess > interval / 1000000 then
  -- The clock was set back: the debt runs off from now on, not only once the clock has reached the old time.
  if still > period or now < tonumber(at or now) then
    redis.call('SET', KEYS[1], string.format('%.0f %.17g', now, before), 'PX', math.ceil(before / 1000))
  end
  return { 0, 0, math.ceil(excess / 1000), math.ceil(before / 1000) }
end
redis.call('SET', KEYS[1], string.format('%.0f %.17g', now, after), 'PX', math.ceil(after / 1000))
return { 1, math.floor((period - after) / interval + 0.001), 0, math.ceil(after / 1000) }
