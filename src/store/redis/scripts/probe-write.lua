-- A write that changes no data: refused where others are. An emptied Redis is left as it is.
-- KEYS[1] write probe  KEYS[2] store ID  ARGV[1] for how long the probe is kept, in ms
if redis.call('EXISTS', KEYS[2]) == 0 then return 0 end
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return 1
