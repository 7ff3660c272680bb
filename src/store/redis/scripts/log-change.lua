-- Prelude of every script that changes what caches hold: one order for all changes, written with the change.
-- KEYS[1] log (stream)  KEYS[2] head (counter)  KEYS[3] store ID
-- ARGV[1] channel  ARGV[2] entries kept  ARGV[3] an ID for a store that has none

-- Returns the position of the entry, which is never 0.
local function log_change(kind, subject)
  local head = redis.call('INCR', KEYS[2])
  local time = redis.call('TIME')
  -- To the microsecond: this shows a reader, after a failover, whether the entry is still the same.
  local at = string.format('%.3f', time[1] * 1000 + time[2] / 1000)
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[2], head .. '-0', 'kind', kind, 'subject', subject, 'at', at)
  redis.call('PUBLISH', ARGV[1], head .. ' ' .. at .. ' ' .. kind .. ' ' .. subject)
  return head
end

-- Where nothing has to change: rewrites the head, so that the caller still waits until the replicas have all.
local function log_nothing()
  local head = redis.call('GET', KEYS[2])
  if head then redis.call('SET', KEYS[2], head) end
  return 0
end

-- The first write gives the store its ID: without it an empty store could not be told from a lost one.
local function claim_store()
  redis.call('SET', KEYS[3], ARGV[3], 'NX')
end
