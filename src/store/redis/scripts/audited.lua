-- Wraps every script that is audited: its change and the audit entries are written in one step.
-- The last of KEYS is the audit log (stream)
-- The last of ARGV  entries kept, and before it the entries as a JSON list of texts
local audit_log = table.remove(KEYS)
local audit_kept = table.remove(ARGV)
local audit_entries = cjson.decode(table.remove(ARGV))

-- A script that has changed something answers a number above 0, or an empty list of conflicts.
local function audited(act)
  local outcome = act()
  local is_done = type(outcome) == 'table' and #outcome == 0 or type(outcome) == 'number' and outcome > 0
  if is_done then
    for _, entry in ipairs(audit_entries) do
      redis.call('XADD', audit_log, 'MAXLEN', '~', audit_kept, '*', 'entry', entry)
    end
  end
  return outcome
end

