import t from 'tap'
import { createHeaderRules } from '#gateway/forward/header-rules.ts'
import { usualCarriers } from '../../setup/carriers.ts'
import { defaultIdentityHeaders } from '../../setup/default-identity-headers.ts'
import { memoryInUse } from './memory.ts'

/** What a server that turns names into variables takes for the same name. */
function aliasesOf(name: string): readonly string[] {
  const spellings = [
    name,
    name.replaceAll('-', '_'),
    name.replaceAll('-', '.'),
    name.replaceAll('-', ''),
    name.replaceAll('-', '--'),
    name.replaceAll('-', '~'),
    name.replaceAll('-', '_-'),
    `_${name}`,
    `${name}-`,
    name.replace('-', "'").replace('-', '!'),
  ]
  return spellings.flatMap((spelling) => [spelling, spelling.toLowerCase(), spelling.toUpperCase()])
}

t.test(
  'every default identity name is dropped in every spelling, though another is configured',
  async (t) => {
    const rules = createHeaderRules(['Remote-User', 'Remote-Role'], usualCarriers)
    for (const alias of [...defaultIdentityHeaders, 'Remote-User', 'Remote-Role'].flatMap(aliasesOf)) {
      t.equal(rules.ruleOf(alias), 'drop', alias)
    }
  },
)

t.test('a name that only resembles an identity header passes', async (t) => {
  const rules = createHeaderRules(['X-User-Id'], usualCarriers)
  for (const name of [
    'X-User',
    'X-User-Ids',
    'X-User-Id-2',
    'X-User-I',
    'User-Id',
    'Remote-User',
    'X-Users-Id',
  ]) {
    t.equal(rules.ruleOf(name), 'pass', name)
  }
})

t.test('every spelling of a method override is known, and of Proxy dropped', async (t) => {
  const rules = createHeaderRules([], usualCarriers)
  for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
    for (const alias of aliasesOf(name)) t.equal(rules.ruleOf(alias), 'method-override', alias)
  }
  for (const alias of aliasesOf('Proxy')) t.equal(rules.ruleOf(alias), 'drop', alias)
  for (const name of ['X-HTTP-Methods', 'X-Method', 'Method-Override', 'Proxy-Status', 'X-Proxy']) {
    t.equal(rules.ruleOf(name), 'pass', name)
  }
})

t.test('hop-by-hop fields, framing and Host are dropped in any case', async (t) => {
  const rules = createHeaderRules([], usualCarriers)
  const names = [
    'Connection',
    'Keep-Alive',
    'Proxy-Authenticate',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Upgrade',
    'Content-Length',
    'Transfer-Encoding',
    'Host',
  ]
  for (const name of [
    ...names,
    ...names.map((name) => name.toUpperCase()),
    ...names.map((name) => name.toLowerCase()),
  ]) {
    t.equal(rules.ruleOf(name), 'drop', name)
  }
})

t.test('headers that the gateway sets itself are dropped in every spelling', async (t) => {
  const rules = createHeaderRules([], usualCarriers)
  for (const name of ['X-Request-Id', 'X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host'].flatMap(
    aliasesOf,
  )) {
    t.equal(rules.ruleOf(name), 'drop', name)
  }
})

t.test('headers that override the path are dropped, from everybody and in every spelling', async (t) => {
  const rules = createHeaderRules([], usualCarriers)
  for (const name of ['X-Original-URL', 'X-Rewrite-URL'].flatMap(aliasesOf))
    t.equal(rules.ruleOf(name), 'drop', name)
})

t.test('forwarding headers are recognised in every spelling', async (t) => {
  const rules = createHeaderRules([], usualCarriers)
  const names = [
    'Forwarded',
    'X-Real-IP',
    'X-Forwarded-Port',
    'X-Forwarded-Uri',
    'X-Forwarded',
    'X-Forwarded-User',
    'X-Forwarded-Whatever-Comes',
  ]
  for (const name of names.flatMap(aliasesOf)) t.equal(rules.ruleOf(name), 'forwarding-field', name)
  for (const name of aliasesOf('X-Forwarded-Prefix')) t.equal(rules.ruleOf(name), 'prefix', name)
})

t.test('credentials and cookies have rules of their own', async (t) => {
  const rules = createHeaderRules([], usualCarriers)
  const expected = { SecretKey: 'secret-key', Authorization: 'authorization', Cookie: 'cookie' }
  for (const [name, rule] of Object.entries(expected)) {
    for (const spelling of [name, name.toLowerCase(), name.toUpperCase()])
      t.equal(rules.ruleOf(spelling), rule)
  }
})

t.test('ordinary fields pass, unusual ones too', async (t) => {
  const rules = createHeaderRules(['X-User-Id'], usualCarriers)
  const names = [
    'Accept',
    'Content-Type',
    'Content-Encoding',
    'Range',
    'If-Match',
    'traceparent',
    'Sec-WebSocket-Key',
    'Origin',
    'Via',
    'X',
    '!',
    '~',
    'x-forward',
    'Set-Cookie',
    'X-Api-Key',
    '__proto__',
    'constructor',
    'toString',
  ]
  for (const name of names) t.equal(rules.ruleOf(name), 'pass', name)
})

t.test('a rule stays the same however many names have been asked for in between', async (t) => {
  const rules = createHeaderRules(['X-Our-Id'], usualCarriers)
  for (let index = 0; index < 10_000; index++) rules.ruleOf(`X-Made-Up-${index}`)
  t.equal(rules.ruleOf('x_our_id'), 'drop')
  t.equal(rules.ruleOf('X-Made-Up-1'), 'pass')
})

t.test('made-up names do not fill the memory', async (t) => {
  const rules = createHeaderRules([], usualCarriers)
  const before = memoryInUse()
  // 100,000 names of 1,000 letters would be 100 MB.
  for (let index = 0; index < 100_000; index++) rules.ruleOf(`x-${index}-${'y'.repeat(1_000)}`)
  const growth = memoryInUse() - before
  t.equal(rules.ruleOf('Accept'), 'pass')
  t.ok(growth < 10_000_000, `grew by ${growth} bytes`)
})
