-- Members of a sorted set whose scores are times, after one that may be gone by now.
-- KEYS[1] the set (accounts: 0 for those that are older than this index)
-- ARGV[1] the one before, or '' for the first page  ARGV[2] its score  ARGV[3] most that are answered
-- ARGV[4] '1' = oldest first, else newest first
-- Returns member, score, member, score.
local limit = tonumber(ARGV[3])
local is_forward = ARGV[4] == '1'
local function range(first, last)
  if is_forward then return redis.call('ZRANGE', KEYS[1], first, last, 'WITHSCORES') end
  return redis.call('ZRANGE', KEYS[1], first, last, 'REV', 'WITHSCORES')
end
local function from_score(offset)
  if is_forward then
    return redis.call('ZRANGE', KEYS[1], ARGV[2], '+inf', 'BYSCORE', 'LIMIT', offset, 1000, 'WITHSCORES')
  end
  return redis.call('ZRANGE', KEYS[1], ARGV[2], '-inf', 'BYSCORE', 'REV', 'LIMIT', offset, 1000, 'WITHSCORES')
end
if ARGV[1] == '' then return range(0, limit - 1) end
local rank = redis.call('ZRANK', KEYS[1], ARGV[1])
if rank and not is_forward then rank = redis.call('ZREVRANK', KEYS[1], ARGV[1]) end
if rank then return range(rank + 1, rank + limit) end
local found = {}
local offset = 0
repeat
  local some = from_score(offset)
  for i = 1, #some, 2 do
    local score = tonumber(some[i + 1])
    local is_after
    -- Those of the same moment are in the order of their names, or its reverse.
    if is_forward then is_after = score > tonumber(ARGV[2]) or some[i] > ARGV[1]
    else is_after = score < tonumber(ARGV[2]) or some[i] < ARGV[1] end
    if is_after and #found < limit * 2 then
      found[#found + 1] = some[i]
      found[#found + 1] = some[i + 1]
    end
  end
  offset = offset + 1000
until #some < 2000 or #found == limit * 2
return found
