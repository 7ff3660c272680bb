-- Notes that something was told, so that its audit entry is written once.
-- KEYS[1] its ID  ARGV[1] until when the ID is kept, in ms
-- Returns whether it is new.
return redis.call('SET', KEYS[1], '1', 'NX', 'PXAT', ARGV[1]) and 1 or 0
