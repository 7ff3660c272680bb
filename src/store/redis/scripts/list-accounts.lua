-- IDs of accounts, newest first, after an account that may be deleted by now.
-- KEYS[1] IDs (sorted set by the time of creation; 0 for accounts older than this index)
-- ARGV[1] ID of the one before, or '' for the first page  ARGV[2] when that was created  ARGV[3] most that are answered
local limit = tonumber(ARGV[3])
if ARGV[1] == '' then return redis.call('ZRANGE', KEYS[1], 0, limit - 1, 'REV') end
local rank = redis.call('ZREVRANK', KEYS[1], ARGV[1])
if rank then return redis.call('ZRANGE', KEYS[1], rank + 1, rank + limit, 'REV') end
local found = {}
local offset = 0
repeat
  local some = redis.call('ZRANGE', KEYS[1], ARGV[2], '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, 1000, 'WITHSCORES')
  for i = 1, #some, 2 do
    -- Those of the same moment are in reverse order of their IDs.
    local is_after = tonumber(some[i + 1]) < tonumber(ARGV[2]) or some[i] < ARGV[1]
    if is_after and #found < limit then found[#found + 1] = some[i] end
  end
  offset = offset + 1000
until #some < 2000 or #found == limit
return found
