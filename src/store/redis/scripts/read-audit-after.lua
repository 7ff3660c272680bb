-- Entries of both chains of the audit log, oldest first: IDs grow across both (audited.lua).
-- KEYS[1] all acts but people's on their own accounts (stream)  KEYS[2] these (stream)
-- ARGV[1] where to begin: '-' or after an ID  ARGV[2] how many are returned at most
-- Returns the ID and the text of each.
local function is_older(a, b)
  local a_ms, a_n = string.match(a[1], '^(%d+)-(%d+)$')
  local b_ms, b_n = string.match(b[1], '^(%d+)-(%d+)$')
  if a_ms ~= b_ms then return tonumber(a_ms) < tonumber(b_ms) end
  return tonumber(a_n) < tonumber(b_n)
end
local acts = redis.call('XRANGE', KEYS[1], ARGV[1], '+', 'COUNT', ARGV[2])
local own = redis.call('XRANGE', KEYS[2], ARGV[1], '+', 'COUNT', ARGV[2])
local found = {}
local i, k = 1, 1
for n = 1, tonumber(ARGV[2]) do
  local entry
  if not own[k] or acts[i] and is_older(acts[i], own[k]) then
    entry = acts[i]
    i = i + 1
  else
    entry = own[k]
    k = k + 1
  end
  if not entry then break end
  found[n] = { entry[1], entry[2][2] }
end
return found
