-- IDs of open sessions, newest first, after one that may be gone by now.
-- KEYS[1] open sessions (sorted set by start, newest first)  KEYS[2] sessions of the account (sorted set by end)
-- ARGV[1] ID of the one before, or '' for the first page  ARGV[2] its score  ARGV[3] most that are answered  ARGV[4] now
-- Returns '1' where there is no index of open ones and there may have to be one, then ID, score and '1' of each that
-- can still be refreshed, or '' of one that has expired.
local limit = tonumber(ARGV[3])
if redis.call('EXISTS', KEYS[1]) == 0 then return { tostring(redis.call('EXISTS', KEYS[2])) } end
local start = 0
if ARGV[1] ~= '' then
  start = redis.call('ZRANK', KEYS[1], ARGV[1])
  if start then start = start + 1
  else
    start = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. ARGV[2])
    local is_before = true
    while is_before do
      local one = redis.call('ZRANGE', KEYS[1], start, start, 'WITHSCORES')
      is_before = one[1] and tonumber(one[2]) == tonumber(ARGV[2]) and one[1] < ARGV[1]
      if is_before then start = start + 1 end
    end
  end
end
local some = redis.call('ZRANGE', KEYS[1], start, start + limit - 1, 'WITHSCORES')
local found = { '0' }
for i = 1, #some, 2 do
  local ends = redis.call('ZSCORE', KEYS[2], some[i])
  found[#found + 1] = some[i]
  found[#found + 1] = some[i + 1]
  found[#found + 1] = ends and tonumber(ends) > tonumber(ARGV[4]) and '1' or ''
end
return found
