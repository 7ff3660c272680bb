-- Which commands the user may not run, on keys and the channel of the store.
-- KEYS[1] a key of the store  ARGV[1] the channel of changes  ARGV[2..] the commands
local missing = {}
for i = 2, #ARGV do
  local on = ARGV[i] == 'PUBLISH' and { ARGV[1], '' } or { KEYS[1] }
  if not redis.acl_check_cmd(ARGV[i], unpack(on)) then missing[#missing + 1] = string.lower(ARGV[i]) end
end
return missing
