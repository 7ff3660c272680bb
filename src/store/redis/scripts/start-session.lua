-- Starts a session unless the account has changed since it was read. If the account has as many as it may, the sessions
-- of KEYS[8..] end first, and this one starts only if that makes room for it.
-- KEYS[4] the account  KEYS[5] the session  KEYS[6] sessions of the account (sorted set by end)
-- KEYS[7] those of them that are open (sorted set by start, newest first)  KEYS[8..] sessions that may end: the oldest
-- ARGV[4] revision that was read  ARGV[5] session ID  ARGV[6] now  ARGV[7] lives until  ARGV[8] kept until
-- ARGV[9] its fields as a JSON list  ARGV[10] created at  ARGV[11] the index of open ones is kept until
-- ARGV[12] most of one account  ARGV[13] '1' = older sessions are in the index of open ones  ARGV[14..] IDs of KEYS[8..]
-- Returns what came of it, how many too many there are, and ID and position of each that has ended.
local text = redis.call('GET', KEYS[4])
local account = text and cjson.decode(text)
if not account or account.revision ~= tonumber(ARGV[4]) or account.isDisabled then return { 'account-changed', 0 } end
-- Some at a time: an account may have a hundred thousand.
for _, id in ipairs(redis.call('ZRANGE', KEYS[6], '-inf', ARGV[6], 'BYSCORE', 'LIMIT', 0, 500)) do
  redis.call('ZREM', KEYS[6], id)
end
if ARGV[13] ~= '1' and redis.call('EXISTS', KEYS[7]) == 0 and redis.call('EXISTS', KEYS[6]) == 1 then
  return { 'not-indexed', 0 }
end
local over = redis.call('ZCARD', KEYS[7]) - ARGV[12] + 1
local outcome = { 'started', 0 }
if over > 0 then
  -- One that was not refreshed in time has already expired, and does not count.
  for _, id in ipairs(redis.call('ZRANGE', KEYS[7], 0, 499, 'REV')) do
    local ends = redis.call('ZSCORE', KEYS[6], id)
    if not ends or tonumber(ends) <= tonumber(ARGV[6]) then over = over - redis.call('ZREM', KEYS[7], id) end
  end
end
for i = 8, #KEYS do
  if over <= 0 then break end
  local id = ARGV[i + 6]
  if redis.call('ZREM', KEYS[7], id) == 1 then
    over = over - 1
    if redis.call('EXISTS', KEYS[i]) == 1 and redis.call('HSETNX', KEYS[i], 'end', 'revoked') == 1 then
      outcome[#outcome + 1] = id
      outcome[#outcome + 1] = log_change('session', id)
    end
  end
end
if over > 0 then
  outcome[1] = 'too-many'
  outcome[2] = over
  return outcome
end
redis.call('HSET', KEYS[5], 'sessionEpoch', account.sessionEpoch, unpack(cjson.decode(ARGV[9])))
redis.call('PEXPIREAT', KEYS[5], ARGV[8])
redis.call('ZADD', KEYS[6], ARGV[7], ARGV[5])
redis.call('PEXPIREAT', KEYS[6], ARGV[8], 'GT')
redis.call('PEXPIREAT', KEYS[6], ARGV[8], 'NX')
redis.call('ZADD', KEYS[7], -ARGV[10], ARGV[5])
redis.call('PEXPIREAT', KEYS[7], ARGV[11], 'GT')
redis.call('PEXPIREAT', KEYS[7], ARGV[11], 'NX')
return outcome
