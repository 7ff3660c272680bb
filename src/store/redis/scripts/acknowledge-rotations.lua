-- Records when the current refresh tokens of sessions were first delivered. Where that is known it is written again:
-- waiting until the replicas have this write means that they know it too.
-- KEYS the sessions  ARGV for each of them its generation, and when
-- Returns how many of the sessions are not there.
local absent = 0
for i = 1, #KEYS do
  local session = redis.call('HMGET', KEYS[i], 'generation', 'acknowledgedAt')
  if not session[1] then absent = absent + 1 end
  if session[1] == ARGV[2 * i - 1] and session[2] then
    redis.call('HSET', KEYS[i], 'acknowledgedAt', session[2] == '0' and ARGV[2 * i] or session[2])
  end
end
return absent
