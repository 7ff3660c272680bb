-- Prelude of every script that changes something: one order for all changes, written with the change.
-- KEYS[1] log (stream)  KEYS[2] head (counter)  ARGV[1] channel  ARGV[2] entries kept
local function log_change(kind, subject)
  local head = redis.call('INCR', KEYS[2])
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], head .. '-0', 'kind', kind, 'subject', subject)
  redis.call('PUBLISH', ARGV[1], head)
end
