-- Takes requests of a quota, as takeOfQuota of quotas.ts does.
-- KEYS[1] the quota of an account in a window (hash: `granted`, and what each holder has reserved)
-- ARGV[1] limit  [2] slack  [3] holder  [4] holders  [5] needed  [6] unused  [7] uncounted  [8] when the key expires
-- Returns what is granted.
local limit, slack, holders, needed = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('HDEL', KEYS[1], 'by ' .. ARGV[3])
local used = -ARGV[6] + ARGV[7]
local held = 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] == 'granted' then
    used = used + fields[i + 1]
  else
    held = held + fields[i + 1]
  end
end
local room = math.max(0, limit + math.min(held, slack) - used)
local granted = math.min(needed, room)
if needed > 0 and needed <= room then
  local reserved = math.max(0, math.min(math.floor(slack / holders), slack - held, math.floor((limit - used - needed) / (2 * holders))))
  if reserved > 0 then redis.call('HSET', KEYS[1], 'by ' .. ARGV[3], reserved) end
  granted = granted + reserved
end
redis.call('HSET', KEYS[1], 'granted', string.format('%.0f', used + granted))
redis.call('PEXPIREAT', KEYS[1], ARGV[8])
return granted
