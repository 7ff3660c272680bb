-- Takes requests of a quota, as takeOfQuota of quotas.ts does.
-- KEYS[1] the quota of a subject in a window (hash: `granted`, and by each holder `reserved sequence granted askedAt`)
-- ARGV[1] limit  [2] slack  [3] holder  [4] holders  [5] needed  [6] unused  [7] uncounted  [8] when the key expires
-- [9] sequence  [10] ahead  [11] kept  [12] 1 % of the limit  [13] now in ms  [14] ms after which a holder is gone
-- Returns what is granted, and what is granted to all holders together.
local limit, slack, holders, needed = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[4]), tonumber(ARGV[5])
local ahead, kept, percent, now = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
local own = 'by ' .. ARGV[3]
local used = -ARGV[6] + ARGV[7]
local held, total = 0, 0
local gone, repeated = {}, nil
local fields = redis.call('HGETALL', KEYS[1])
for i = 1, #fields, 2 do
  if fields[i] == 'granted' then
    total = tonumber(fields[i + 1])
    used = used + total
  else
    local reserved, sequence, granted, askedAt = string.match(fields[i + 1], '^(%d+) (%d+) (%d+) ?(%d*)$')
    if fields[i] == own then
      if tonumber(ARGV[9]) <= tonumber(sequence) then repeated = tonumber(granted) end
    elseif now - (tonumber(askedAt) or 0) < tonumber(ARGV[14]) then
      held = held + reserved
    else
      gone[#gone + 1] = fields[i]
    end
  end
end
if repeated then return { repeated, total } end
for _, field in ipairs(gone) do redis.call('HDEL', KEYS[1], field) end
local room = math.max(0, limit + math.min(held, slack) - used)
local left = limit - used - needed
local reserved = 0
if needed + ahead > 0 and needed <= room then
  local few = math.min(math.floor(slack / holders), slack - held, math.floor(left / (2 * holders)))
  local many = math.min(ahead, math.floor(percent / holders), percent - held, math.floor(left / (32 * holders)))
  reserved = math.max(0, math.max(few, many) - kept)
end
local granted = math.min(needed, room) + reserved
redis.call('HSET', KEYS[1], own, string.format('%.0f %s %.0f %.0f', kept + reserved, ARGV[9], granted, now))
redis.call('HSET', KEYS[1], 'granted', string.format('%.0f', used + granted))
redis.call('PEXPIREAT', KEYS[1], ARGV[8])
return { granted, used + granted }
