-- Members of a sorted set whose scores are times, newest first, after one that may be gone by now.
-- KEYS[1] the set (accounts: 0 for those that are older than this index)
-- ARGV[1] the one before, or '' for the first page  ARGV[2] its score  ARGV[3] most that are answered
-- Returns member, score, member, score.
local limit = tonumber(ARGV[3])
if ARGV[1] == '' then return redis.call('ZRANGE', KEYS[1], 0, limit - 1, 'REV', 'WITHSCORES') end
local rank = redis.call('ZREVRANK', KEYS[1], ARGV[1])
if rank then return redis.call('ZRANGE', KEYS[1], rank + 1, rank + limit, 'REV', 'WITHSCORES') end
local found = {}
local offset = 0
repeat
  local some = redis.call('ZRANGE', KEYS[1], ARGV[2], '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, 1000, 'WITHSCORES')
  for i = 1, #some, 2 do
    -- Those of the same moment are in reverse order of their names.
    local is_after = tonumber(some[i + 1]) < tonumber(ARGV[2]) or some[i] < ARGV[1]
    if is_after and #found < limit * 2 then
      found[#found + 1] = some[i]
      found[#found + 1] = some[i + 1]
    end
  end
  offset = offset + 1000
until #some < 2000 or #found == limit * 2
return found
