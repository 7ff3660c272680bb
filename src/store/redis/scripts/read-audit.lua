-- Entries of both chains of the audit log, in one order: IDs grow across both (audited.lua). Only entries whose text
-- contains two needles are returned: the caller checks whether they really match.
-- KEYS[1] all acts but people's on their own accounts (stream)  KEYS[2] these (stream)
-- ARGV[1] 'newest' or 'oldest' first  ARGV[2] where to begin: '+' or '-', or an ID, after '(' without itself
-- ARGV[3] entries scanned  ARGV[4] how many are returned at most
-- ARGV[5] a needle  ARGV[6] another, in lower case; '' is in every text
-- Returns where to continue, or '' at the end, and the entries.
local is_newest_first = ARGV[1] == 'newest'
local function is_first(a, b)
  local a_ms, a_n = string.match(a[1], '^(%d+)-(%d+)$')
  local b_ms, b_n = string.match(b[1], '^(%d+)-(%d+)$')
  if a_ms ~= b_ms then return (tonumber(a_ms) > tonumber(b_ms)) == is_newest_first end
  return (tonumber(a_n) > tonumber(b_n)) == is_newest_first
end
local most = tonumber(ARGV[3])
local acts, own
if is_newest_first then
  acts = redis.call('XREVRANGE', KEYS[1], ARGV[2], '-', 'COUNT', most)
  own = redis.call('XREVRANGE', KEYS[2], ARGV[2], '-', 'COUNT', most)
else
  acts = redis.call('XRANGE', KEYS[1], ARGV[2], '+', 'COUNT', most)
  own = redis.call('XRANGE', KEYS[2], ARGV[2], '+', 'COUNT', most)
end
local found = {}
local i, k = 1, 1
local last = ''
for _ = 1, most do
  local entry
  if not own[k] or acts[i] and is_first(acts[i], own[k]) then
    entry = acts[i]
    i = i + 1
  else
    entry = own[k]
    k = k + 1
  end
  if not entry then return { '', found } end
  last = entry[1]
  local text = entry[2][2]
  if string.find(text, ARGV[5], 1, true) and (ARGV[6] == '' or string.find(string.lower(text), ARGV[6], 1, true)) then
    found[#found + 1] = entry
    if #found == tonumber(ARGV[4]) then return { last, found } end
  end
end
return { last, found }
