-- Replaces the sealed half of a signing key, if it is the expected one.
-- KEYS[4] signing keys (hash)
-- ARGV[4] key ID  ARGV[5] the sealed half before  ARGV[6] and after, both in base64url
-- Returns the position of the change, or 0 where nothing was replaced.
local text = redis.call('HGET', KEYS[4], ARGV[4])
if not text then return log_nothing() end
-- By its text: what is decoded and encoded again may lose digits of numbers.
local first, last = string.find(text, '"sealed":"' .. ARGV[5] .. '"', 1, true)
if not first then return log_nothing() end
local resealed = string.sub(text, 1, first - 1) .. '"sealed":"' .. ARGV[6] .. '"' .. string.sub(text, last + 1)
redis.call('HSET', KEYS[4], ARGV[4], resealed)
return log_change('signing-keys', '')
