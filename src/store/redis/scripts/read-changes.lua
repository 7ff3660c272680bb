-- The head of the change log, and what came after a position, as one picture.
-- KEYS[1] log (stream)  KEYS[2] head (counter)  ARGV[1] position, or '' for the head alone
local head = tonumber(redis.call('GET', KEYS[2]) or 0)
if ARGV[1] == '' or tonumber(ARGV[1]) >= head then return { head, {} } end
return { head, redis.call('XRANGE', KEYS[1], '(' .. ARGV[1] .. '-0', '+') }
