-- Starts a portal session unless the account has changed since it was read. What is over goes, and of too many
-- the oldest.
-- KEYS[4] the account  KEYS[5] its portal sessions (hash)
-- ARGV[4] revision that was read  ARGV[5] session ID  ARGV[6] now  ARGV[7] ends at  ARGV[8] most of one account
-- ARGV[9] the session as JSON
-- Answers 1, or 0 where the account has changed.
local text = redis.call('GET', KEYS[4])
local account = text and cjson.decode(text)
if not account or account.revision ~= tonumber(ARGV[4]) or account.isDisabled then return 0 end
local epoch = account.portal and account.portal.epoch or 1
local open = {}
local fields = redis.call('HGETALL', KEYS[5])
for i = 1, #fields, 2 do
  -- epoch, start, end, JSON
  local of, start, ends = string.match(fields[i + 1], '^(%d+) (%d+) (%d+) ')
  if tonumber(of) ~= epoch or tonumber(ends) <= tonumber(ARGV[6]) then redis.call('HDEL', KEYS[5], fields[i])
  else open[#open + 1] = { fields[i], tonumber(start) } end
end
table.sort(open, function(a, b) return a[2] < b[2] end)
for i = 1, #open - ARGV[8] + 1 do redis.call('HDEL', KEYS[5], open[i][1]) end
redis.call('HSET', KEYS[5], ARGV[5], string.format('%d %s %s %s', epoch, ARGV[6], ARGV[7], ARGV[9]))
redis.call('PEXPIREAT', KEYS[5], ARGV[7], 'GT')
redis.call('PEXPIREAT', KEYS[5], ARGV[7], 'NX')
return 1
