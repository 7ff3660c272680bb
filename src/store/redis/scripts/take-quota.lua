-- Takes requests of a quota, as takeOfQuota of quotas.ts does.
-- KEYS[1] the quota of an account in a window (hash: `granted`, and by each holder `reserved sequence granted`)
-- ARGV[1] limit  [2] slack  [3] holder  [4] holders  [5] needed  [6] unused  [7] uncounted  [8] when the key expires
-- [9] sequence
-- Returns what is granted.
local limit, slack, holders, needed = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5])
local own = 'by ' .. ARGV[3]
local used = -ARGV[6] + ARGV[7]
local held = 0
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] == 'granted' then
    used = used + fields[i + 1]
  else
    local reserved, sequence, granted = string.match(fields[i + 1], '^(%d+) (%d+) (%d+)$')
    if fields[i] ~= own then
      held = held + reserved
    elseif tonumber(ARGV[9]) <= tonumber(sequence) then
      return tonumber(granted)
    end
  end
end
local granted = 0
if needed == 0 then
  redis.call('HDEL', KEYS[1], own)
else
  local room = math.max(0, limit + math.min(held, slack) - used)
  local reserved = 0
  if needed <= room then
    reserved = math.max(0, math.min(math.floor(slack / holders), slack - held, math.floor((limit - used - needed) / (2 * holders))))
  end
  granted = math.min(needed, room) + reserved
  redis.call('HSET', KEYS[1], own, string.format('%.0f %s %.0f', reserved, ARGV[9], granted))
end
redis.call('HSET', KEYS[1], 'granted', string.format('%.0f', used + granted))
redis.call('PEXPIREAT', KEYS[1], ARGV[8])
return granted
