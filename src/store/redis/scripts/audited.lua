-- Wraps every script that is audited: its change and the audit entries are written in one step.
-- The last of KEYS  the chains (hash), people's acts on their own accounts (stream), all other acts (stream)
-- The last of ARGV  entries kept of each, time in ms before which none is kept, and the entries as a JSON list of
-- { class, text, SHA-256 of the text }
local audit_keys = { table.remove(KEYS), table.remove(KEYS), table.remove(KEYS) }
local audit_oldest = tonumber(table.remove(ARGV))
local audit_kept = tonumber(table.remove(ARGV))
local audit_entries = cjson.decode(table.remove(ARGV))
local audit_streams = { own = 2, acts = 3 }

-- Greater than all before in both streams, so that they can be read as one.
local function next_audit_id()
  local time = redis.call('TIME')
  local ms, n = time[1] * 1000 + math.floor(time[2] / 1000), redis.call('HINCRBY', audit_keys[1], 'n', 1)
  for i = 2, 3 do
    local last = redis.call('XREVRANGE', audit_keys[i], '+', '-', 'COUNT', 1)[1]
    local last_ms, last_n = string.match(last and last[1] or '0-0', '^(%d+)-(%d+)$')
    ms = math.max(ms, tonumber(last_ms) + (tonumber(last_n) >= n and 1 or 0))
  end
  return string.format('%.0f-%.0f', ms, n)
end

local function trim_audit(class, i)
  for _ = 1, 20 do
    -- One at a time, as each that is read takes time, and most often none is removed.
    local entry = redis.call('XRANGE', audit_keys[i], '-', '+', 'COUNT', 1)[1]
    if not entry then return end
    local is_old = tonumber(string.match(entry[1], '^%d+')) < audit_oldest
    if not is_old and redis.call('XLEN', audit_keys[i]) <= audit_kept then return end
    redis.call('XDEL', audit_keys[i], entry[1])
    if entry[2][4] then redis.call('HSET', audit_keys[1], class .. ':trimmed', entry[2][4]) end
  end
end

-- A script that has changed something answers a number above 0, or an empty list of conflicts.
local function audited(act)
  local outcome = act()
  local is_done = type(outcome) == 'table' and #outcome == 0 or type(outcome) == 'number' and outcome > 0
  if is_done then
    for _, entry in ipairs(audit_entries) do
      local class, i = entry[1], audit_streams[entry[1]]
      local link = redis.sha1hex((redis.call('HGET', audit_keys[1], class .. ':last') or '') .. entry[3])
      redis.call('XADD', audit_keys[i], next_audit_id(), 'entry', entry[2], 'link', link)
      redis.call('HSET', audit_keys[1], class .. ':last', link)
      trim_audit(class, i)
    end
  end
  return outcome
end

