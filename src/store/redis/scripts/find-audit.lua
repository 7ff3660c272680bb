-- Entries of the audit log whose text contains two needles, newest first: the caller checks whether they really match.
-- KEYS[1] all acts but people's on their own accounts (stream)  KEYS[2] these (stream)
-- ARGV[1] where to begin, '+' or before an ID  ARGV[2] entries scanned  ARGV[3] how many are returned at most
-- ARGV[4] a needle  ARGV[5] another, in lower case; '' is in every text
-- Returns where to continue, or '' at the end, and the entries.
local function is_newer(a, b)
  local a_ms, a_n = string.match(a[1], '^(%d+)-(%d+)$')
  local b_ms, b_n = string.match(b[1], '^(%d+)-(%d+)$')
  if a_ms ~= b_ms then return tonumber(a_ms) > tonumber(b_ms) end
  return tonumber(a_n) > tonumber(b_n)
end
local most = tonumber(ARGV[2])
local acts = redis.call('XREVRANGE', KEYS[1], ARGV[1], '-', 'COUNT', most)
local own = redis.call('XREVRANGE', KEYS[2], ARGV[1], '-', 'COUNT', most)
local found = {}
local i, k = 1, 1
local last = ''
for _ = 1, most do
  local entry
  if not own[k] or acts[i] and is_newer(acts[i], own[k]) then
    entry = acts[i]
    i = i + 1
  else
    entry = own[k]
    k = k + 1
  end
  if not entry then return { '', found } end
  last = entry[1]
  local text = entry[2][2]
  if string.find(text, ARGV[4], 1, true) and (ARGV[5] == '' or string.find(string.lower(text), ARGV[5], 1, true)) then
    found[#found + 1] = entry
    if #found == tonumber(ARGV[3]) then return { last, found } end
  end
end
return { last, found }
