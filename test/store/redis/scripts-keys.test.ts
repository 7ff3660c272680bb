import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const folder = new URL('../../../src/store/redis/scripts/', import.meta.url)
const scripts = readdirSync(folder).filter((name) => name.endsWith('.lua'))

/** Commands that scripts may use: those that take one key, as their first argument, and those that take none. */
const oneKey = new Set(
  `DEL EXISTS GET HDEL HEXISTS HGET HGETALL HINCRBY HKEYS HLEN HMGET HSET HSETNX HVALS INCR PEXPIRE PEXPIREAT
   PEXPIRETIME SET UNLINK XADD XLEN XDEL XRANGE XREVRANGE XTRIM ZADD ZCARD ZCOUNT ZRANGE ZREM ZREMRANGEBYSCORE
   ZRANK ZREVRANK ZSCORE`.split(/\s+/),
)
const noKey = new Set(['INFO', 'TIME', 'PUBLISH'])
/** Checked below, or on no key. */
const harmless = new Set(['redis.call', 'redis.sha1hex', 'redis.acl_check_cmd'])

/** What a script does with keys that it was not given in KEYS, or that this check cannot follow; [] = nothing. */
function undeclaredKeys(source: string): string[] {
  const code = source.replace(/--[^\n]*/g, '')
  const problems: string[] = []
  const declared = new Set<string>()
  for (const [, name = ''] of code.matchAll(
    /local (\w+) = (?:KEYS\[[^\]]+\]|table\.remove\(KEYS\))(?=\n|$)/g,
  )) {
    const assignments = [...code.matchAll(new RegExp(`(?<![\\w.])${name}\\s*=(?!=)`, 'g'))]
    if (assignments.length === 1) declared.add(name)
  }
  const hasAuditKeys = isAuditKeys(code)
  for (const [use] of code.matchAll(/\bredis\.\w+/g)) {
    if (!harmless.has(use)) problems.push(use)
  }
  for (const [, rest = ''] of code.matchAll(/\bredis\.call\((?=([^\n]*))/g)) {
    const [, command = '', key = ''] =
      /^'([A-Z]+)'(?:, ((?:[^,()[\]]|\[[^\]]*\]|\([^()]*\))*))?/.exec(rest) ?? []
    if (noKey.has(command)) continue
    const isGiven =
      /^KEYS\[[^\]]+\]$/.test(key) || declared.has(key) || (hasAuditKeys && /^audit_keys\[\w\]$/.test(key))
    if (!oneKey.has(command) || !isGiven) problems.push(`redis.call(${rest}`)
  }
  const calls = code.match(/\bredis\b/g)?.length ?? 0
  if (calls !== (code.match(/\bredis\.(?:call|sha1hex|acl_check_cmd)\(/g)?.length ?? 0))
    problems.push('redis is used by another name')
  if (/\b(?:loadstring|load|setfenv|_G)\b/.test(code)) problems.push('code made while it runs')
  return problems
}

/** Whether `audit_keys` is the list of the last of KEYS, and nothing else. */
function isAuditKeys(code: string): boolean {
  const isList = /local audit_keys = \{ (?:table\.remove\(KEYS\)(?:, )?)+ \}\n/.test(code)
  return isList && code.match(/audit_keys(?:\[\w+\])?\s*=(?!=)/g)?.length === 1
}

for (const name of scripts) {
  t.test(`${name} reads and writes only keys that it was given`, async (t) => {
    t.strictSame(undeclaredKeys(readFileSync(new URL(name, folder), 'utf8')), [])
  })
}

t.test('a key that a script makes itself is found, whichever way it does it', async (t) => {
  for (const source of [
    "return redis.call('GET', ARGV[1] .. 'x')",
    "return redis.call('GET', ARGV[1])",
    "local key = KEYS[1] .. 'x'\nreturn redis.call('GET', key)",
    "local key = KEYS[1]\nkey = ARGV[1]\nreturn redis.call('GET', key)",
    "return redis.call('GET', redis.call('HGET', KEYS[1], 'a'))",
    "return redis.call('GET', KEYS[1]) or redis.call('GET', ARGV[1])",
    'return redis.call(ARGV[1], KEYS[1])',
    "return redis.call('DEL', unpack(KEYS))",
    "return redis.call('RENAME', KEYS[1], ARGV[1])",
    "return redis.pcall('GET', KEYS[1])",
    "local r = redis\nreturn r.call('GET', ARGV[1])",
    "local call = redis.call\nreturn call('GET', ARGV[1])",
    "return redis['call']('GET', ARGV[1])",
  ]) {
    t.not(undeclaredKeys(source).length, 0, source)
  }
})
