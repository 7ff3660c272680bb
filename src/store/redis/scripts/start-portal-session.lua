-- Starts a portal session unless the account has changed since it was read. Removes expired sessions, and the
-- oldest of too many.
-- KEYS[1] the account  KEYS[2] its portal sessions (hash)  KEYS[3] last active days (sorted set)
-- ARGV[1] revision that was read  ARGV[2] session ID  ARGV[3] now  ARGV[4] ends at  ARGV[5] most of one account
-- ARGV[6] the session as JSON  ARGV[7] ID of the account  ARGV[8] the day
-- Returns 1, or 0 where the account has changed.
local text = redis.call('GET', KEYS[1])
local account = text and cjson.decode(text)
if not account or account.revision ~= tonumber(ARGV[1]) or account.isDisabled then return 0 end
local epoch = account.portal and account.portal.epoch or 1
local open = {}
local fields = redis.call('HGETALL', KEYS[2])
for i = 1, #fields, 2 do
  -- epoch, start, end, JSON
  local of, start, ends = string.match(fields[i + 1], '^(%d+) (%d+) (%d+) ')
  if tonumber(of) ~= epoch or tonumber(ends) <= tonumber(ARGV[3]) then redis.call('HDEL', KEYS[2], fields[i])
  else open[#open + 1] = { fields[i], tonumber(start) } end
end
table.sort(open, function(a, b) return a[2] < b[2] end)
for i = 1, #open - ARGV[5] + 1 do redis.call('HDEL', KEYS[2], open[i][1]) end
redis.call('HSET', KEYS[2], ARGV[2], string.format('%d %s %s %s', epoch, ARGV[3], ARGV[4], ARGV[6]))
redis.call('PEXPIREAT', KEYS[2], ARGV[4], 'GT')
redis.call('PEXPIREAT', KEYS[2], ARGV[4], 'NX')
redis.call('ZADD', KEYS[3], 'GT', ARGV[8], ARGV[7])
return 1
