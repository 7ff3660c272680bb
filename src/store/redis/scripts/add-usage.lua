-- Adds counts to the hashes of accounts and months, unless this batch was added before.
-- In a hash `=key TAB route` is that pair's number from 1, and `pairs` how many there are. The requests of a pair on a
-- day of the month are in the field number * 32 + day, and in the negative of that the units beyond one a request, if
-- there are any: fields and values that are integers take Redis some bytes only.
-- KEYS[1] the batch  KEYS[2] last active days of accounts (sorted set)  KEYS[3..] for each hash: the account, the hash
-- ARGV[1] ms for which the batch is remembered  ARGV[2] how many pairs a hash may have  ARGV[3] the pair of all others
-- ARGV[4..] for each count: which hash (from 1), when that expires in ms, `key TAB route`, day of the month, requests,
-- units beyond one a request, the account's ID or '' for a principal of a foreign issuer, the day since 1970
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[1]) then return 0 end
for i = 4, #ARGV, 8 do
  local hash = 2 * ARGV[i] + 1
  local account = KEYS[hash]
  local counts = KEYS[hash + 1]
  if redis.call('EXISTS', account) == 1 then
    local name = '=' .. ARGV[i + 2]
    local number = redis.call('HGET', counts, name)
    if not number and tonumber(redis.call('HGET', counts, 'pairs') or 0) >= tonumber(ARGV[2]) then
      name = '=' .. ARGV[3]
      number = redis.call('HGET', counts, name)
    end
    if not number then
      number = redis.call('HINCRBY', counts, 'pairs', 1)
      redis.call('HSET', counts, name, number)
      redis.call('PEXPIREAT', counts, ARGV[i + 1])
    end
    local field = number * 32 + ARGV[i + 3]
    redis.call('HINCRBY', counts, field, ARGV[i + 4])
    if ARGV[i + 5] ~= '0' then redis.call('HINCRBY', counts, -field, ARGV[i + 5]) end
    if ARGV[i + 6] ~= '' then redis.call('ZADD', KEYS[2], 'GT', ARGV[i + 7], ARGV[i + 6]) end
  end
end
return 1
