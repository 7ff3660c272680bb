-- Entries of the audit log whose text contains two needles, newest first: the caller checks whether they really match.
-- KEYS[1] the audit log (stream)
-- ARGV[1] where to begin, '+' or before an ID  ARGV[2] entries looked at  ARGV[3] how many are answered at most
-- ARGV[4] a needle  ARGV[5] another, in lower case; '' is in every text
-- Answers where to go on, or '' where that was all, and the entries.
local entries = redis.call('XREVRANGE', KEYS[1], ARGV[1], '-', 'COUNT', ARGV[2])
local found = {}
for _, entry in ipairs(entries) do
  local text = entry[2][2]
  if string.find(text, ARGV[4], 1, true) and (ARGV[5] == '' or string.find(string.lower(text), ARGV[5], 1, true)) then
    found[#found + 1] = entry
    if #found == tonumber(ARGV[3]) then return { entry[1], found } end
  end
end
local last = #entries == tonumber(ARGV[2]) and entries[#entries][1] or ''
return { last, found }
