import { chmodSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '#config/load.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { runUnprivileged } from '../setup/run-unprivileged.ts'
import { problems, read, writeFiles } from './config-fixtures.ts'

const good = 'upstreams: { b: { targets: [{ url: "http://b" }] } }\nroutes: []\n'

t.test('an unreadable config file is reported with its name, the reason and a remedy', async (t) => {
  const folder = writeFiles(t, { 'a-file': '' })
  symlinkSync('loop', join(folder, 'loop'))
  const reasons = {
    absent: 'no such file or directory',
    'absent/gateway.yaml': 'no such file or directory',
    'a-file/gateway.yaml': 'not a directory',
    '': 'it is a folder',
    loop: 'too many symbolic links encountered',
  }
  for (const [name, reason] of Object.entries(reasons)) {
    const file = join(folder, name)
    const thrown = t.throws(() => readConfig({ file, env: {} }), OperatorError)
    t.match(thrown, { message: `cannot read the config file ${file}: ${reason}`, hint: /--config FILE/ })
  }
})

t.test('the remedy for a missing config file exists', async (t) => {
  const folder = writeFiles(t, { 'gateway.yaml': good })
  const hintFor = (file: string) => t.throws(() => readConfig({ file, env: {} }), OperatorError)
  const { hint } = hintFor(join(folder, 'absent')) as OperatorError
  const [, example = ''] = /; (\S+) shows every option/.exec(String(hint)) ?? []
  t.match(readFileSync(example, 'utf8'), /^# Every option/)
  t.match(hintFor(folder), { hint: 'Name the file in it with --config FILE or GATEHOUSE_CONFIG.' })
  chmodSync(join(folder, 'gateway.yaml'), 0)
  await runUnprivileged(() =>
    t.match(hintFor(join(folder, 'gateway.yaml')), {
      message: /: permission denied$/,
      hint: 'The user that the gateway runs as must be able to read it.',
    }),
  )
})

t.test('a wrongly indented line is one problem, which says so', async (t) => {
  const texts: readonly (readonly [text: string, place: string])[] = [
    ['ops:\n  port: 1\n host: x\nupstreams: {}\n', '3:1'],
    ['upstreams:\n  a:\n    targets: []\n   balancing: ipHash\nroutes: []\n', '4:1'],
    ['upstreams: {}\n  routes: []\nlog: {}\n', '2:1'],
    ['routes:\n  - name: a\n     path: /x\n    upstream: b\n    auth: any\n', '2:11'],
    ['routes:\n  - name: a\n    path: /x\n   upstream: b\n    auth: any\n  - name: b\n', '4:1'],
    ['ops\nlog: {}\n', '1:1'],
  ]
  for (const [text, place] of texts) {
    const [first, ...others] = problems(t, text)
    t.ok(first?.startsWith(`${place}  (config): wrong indentation`), `${text} ${first}`)
    t.strictSame(others, [], text)
  }
})

t.test('a config file of 8 MiB is read, a larger one or an endless device refused', async (t) => {
  const text = `${good}# `
  t.strictSame(problems(t, text.padEnd(8 * 1_048_576, '.')), [])
  const folder = writeFiles(t, { 'gateway.yaml': text.padEnd(8 * 1_048_576 + 1, '.') })
  const file = join(folder, 'gateway.yaml')
  for (const name of [file, '/dev/zero']) {
    const thrown = t.throws(() => readConfig({ file: name, env: {} }), OperatorError)
    t.match(thrown, { message: `cannot read the config file ${name}: it is larger than 8 MiB` })
  }
})

t.test('a config file that is not UTF-8 is refused with the line, and what to do', async (t) => {
  const utf16 = Buffer.from(`\uFEFF${good}`, 'utf16le')
  const latin1 = Buffer.from(`${good}# Schl\u00fcssel\nmail: { host: h, from: a@b.example }\n`, 'latin1')
  const cutOff = Buffer.from(`${good}# \u20ac`).subarray(0, -1)
  const files: Readonly<Record<string, readonly [content: Uint8Array, reason: string]>> = {
    'little-endian.yaml': [utf16, 'it is UTF-16'],
    'big-endian.yaml': [Buffer.from(utf16).swap16(), 'it is UTF-16'],
    'latin1.yaml': [latin1, 'line 3 is not UTF-8'],
    'first-line.yaml': [Buffer.from([0xfc]), 'line 1 is not UTF-8'],
    'cut-off.yaml': [cutOff, 'line 3 is not UTF-8'],
  }
  const contents = Object.entries(files).map(([name, [content]]) => [name, content] as const)
  const folder = writeFiles(t, Object.fromEntries(contents))
  for (const [name, [, reason]] of Object.entries(files)) {
    const file = join(folder, name)
    t.match(
      t.throws(() => readConfig({ file, env: {} }), OperatorError),
      {
        message: `cannot read the config file ${file}: ${reason}`,
        hint: /^Save it as UTF-8/,
      },
    )
  }
  t.strictSame(problems(t, `${good}# Schl\u00fcssel, \u20ac, \u{1f511}, \ufffd\n`), [])
})

t.test('an empty config file lacks the two options without a default', async (t) => {
  for (const text of ['', '\n\n', '# nothing but words\n', 'null\n', '---\n']) {
    t.strictSame(
      problems(t, text),
      ['1:1  upstreams: is missing', '1:1  routes: is missing'],
      JSON.stringify(text),
    )
  }
})

t.test('a config file that is not a map is refused as a whole', async (t) => {
  for (const text of ['[]', '- a: 1\n', 'some words', '7', 'true']) {
    t.strictSame(problems(t, text), ['1:1  (config): must be a map of options'], String(text))
  }
})

t.test('broken YAML is reported at its place, without parser jargon', async (t) => {
  const texts: readonly (readonly [what: string, text: string, place: string, reason: RegExp])[] = [
    ['a tab', `${good}ops:\n\tport: 1\n`, '4:1', /Tabs are not allowed/],
    ['an open bracket', `${good}ops: { port: 1\nlog: {}\n`, '4:1', /must be .*indented and end with a }/],
    ['an open quote', `${good}publicUrl: "http://a\n`, '3:12', /the quote " that opens here is never closed/],
    ['two documents', `${good}---\nops: {}\n`, '3:1', /more than one document|multiple documents/],
  ]
  for (const [what, text, place, reason] of texts) {
    const [first = '', ...others] = problems(t, text)
    t.strictSame(others, [], what)
    t.ok(first.startsWith(`${place}  (config): `), `${what}: ${first}`)
    t.match(first, reason, what)
    t.notMatch(first, /YAML\.|at line \d/, what)
  }
})

t.test('broken YAML yields no complaints about missing options', async (t) => {
  t.match(problems(t, 'nope: 1\nops: { port: 1\nlog: {}\n'), [/^3:1 {2}\(config\): /])
  t.match(problems(t, 'nope: 1\nlog: {}\nlog: {}\nops: "x\n'), [/^3:1 {2}log: /, /^4:6 .*quote/])
})

t.test('a duplicate option is reported, and hides no other problem', async (t) => {
  const twice = 'is duplicated: remove one'
  const text = [
    'nope: 1',
    'ops: { port: 1, port: x }',
    'log: { levl: debug }',
    'log: { level: loud }',
    'upstreams: { b: { targets: [{ url: "http://b", url: "b" }] } }',
    'routes:',
    '  - { name: a, path: /a, upstream: b, auth: any }',
    '  - { name: a, path: /b, upstream: c, auth: any, path: b }',
  ]
  t.match(problems(t, `${text.join('\n')}\n`), [
    '1:1  nope: unknown option',
    `2:17  ops.port: ${twice}`,
    '2:23  ops.port: must be a whole number from 0 to 65535',
    `4:1  log: ${twice}`,
    /^4:15 {2}log\.level: must be one of/,
    `5:48  upstreams.b.targets[0].url: ${twice}`,
    /^5:53 {2}upstreams\.b\.targets\[0\]\.url: must be a URL/,
    '8:13  routes[1].name: duplicate route name "a"',
    '8:36  routes[1].upstream: unknown upstream "c", did you mean "b"?',
    `8:50  routes[1].path: ${twice}`,
    /^8:56 {2}routes\[1\]\.path: has an invalid format/,
  ])
  const good = 'upstreams: { b: { targets: [{ url: "http://b" }] } }\nroutes: []\n'
  t.strictSame(problems(t, `${good}routes: []\n`), [`3:1  routes: ${twice}`], 'twice the same is no better')
  t.strictSame(problems(t, `${good}ops: &a { port: 1 }\nops: *a\n`), [`4:1  ops: ${twice}`])
  t.strictSame(problems(t, `${good}ops: {}\nops: {}\nops: {}\n`), [
    `4:1  ops: ${twice}`,
    `5:1  ops: ${twice}`,
  ])
})

t.test('an asterisk that YAML takes for an alias is reported at its place', async (t) => {
  const text = `${good}publicUrl: *.example.com\n`
  t.match(problems(t, text), [/^3:12 {2}.*anchor/i])
})

t.test('YAML aliases that expand without bound are refused at their place', async (t) => {
  const tenfold = (name: string) => `[${Array.from({ length: 10 }, () => name).join(', ')}]`
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']
  const lines = names.map((name, index) => `${name}: &${name} ${tenfold(`*${names[index - 1]}`)}\n`)
  const text = `${good}${lines.join('').replaceAll('*undefined', 'x')}`
  t.strictSame(problems(t, text), ['7:36  e[7]: the aliases (*name) expand to too many values'])
})

t.test('a YAML anchor may be used as often as there are routes', async (t) => {
  t.strictSame(
    problems(t, 'upstreams:\n  a: &a { targets: [{ url: "http://b" }] }\n  b: *a\nroutes: []\n'),
    [],
  )
  const routes = Array.from({ length: 500 }, (_, index) => {
    const timeouts = index === 0 ? '&t { response: 10s }' : '*t'
    return `  - { name: r${index}, path: /${index}, upstream: b, auth: any, timeouts: ${timeouts} }\n`
  })
  t.strictSame(problems(t, good.replace('[]', `\n${routes.join('')}`)), [])
})

t.test('YAML aliases are independent: defaults and overrides of one do not show in another', async (t) => {
  const text = [
    'upstreams:',
    '  b:',
    '    targets: &targets [{ url: "http://b" }]',
    '    timeouts: &t { response: 10s }',
    '  c: { targets: *targets, timeouts: *t }',
    'routes:',
    '  - { name: a, path: /, upstream: b, auth: any, timeouts: *t }',
  ].join('\n')
  t.strictSame(problems(t, text), [])
  const { config } = read(t, text, { settings: ['upstreams.b.timeouts.response=20s'] })
  const times = config?.upstreams.map(({ responseTimeoutMs }) => responseTimeoutMs)
  t.strictSame(times, [20_000, 10_000])
  t.equal(config?.routes[0]?.responseTimeoutMs, 10_000)
  const ofOverride = ['upstreams={ b: { targets: &x [{ url: "http://b" }] }, c: { targets: *x } }']
  const upstreams = read(t, text, { settings: ofOverride }).tree.upstreams
  t.strictSame(upstreams.b, upstreams.c)
  t.not(upstreams.b?.targets, upstreams.c?.targets)
})

t.test('an alias stands for the anchor before it, where the same name is duplicated', async (t) => {
  const text = `${good}log: { level: &x debug }\nmail: { host: *x, from: &x a@b.example, username: *x }\n`
  const { tree } = read(t, text)
  t.match(tree.mail, { host: 'debug', username: 'a@b.example' })
})

t.test('a self-referencing YAML alias is reported at its place, once', async (t) => {
  const rest = (name: string) =>
    `the alias *${name} is circular: it refers to a part of the file that contains it`
  t.strictSame(problems(t, 'upstreams: &u\n  a: *u\nroutes: []\n'), [`2:6  upstreams.a: ${rest('u')}`])
  t.strictSame(problems(t, 'routes: &r [*r]\nupstreams: {}\n'), [`1:13  routes[0]: ${rest('r')}`])
  t.strictSame(problems(t, `${good}a: &a { b: { c: *a } }\nlog: *a\n`), [`3:17  a.b.c: ${rest('a')}`])
  const { problems: ofOverride } = read(t, good, { settings: ['log=&l { level: *l }'] })
  t.match(ofOverride, [{ path: ['log'], message: 'must be a map' }], 'it is no YAML, and so a text')
})

t.test('problems below a YAML alias are reported where they are written', async (t) => {
  const text = `${good}ops: &o { port: x }\nlisten: *o\n`
  t.match(problems(t, text), [/^3:17 {2}listen\.port: must be/, /^3:17 {2}ops\.port: must be/])
})

t.test('YAML nested deeper than any config is refused', async (t) => {
  for (const depth of [5_000, 100_000]) {
    const text = `${good}x: ${'['.repeat(depth)}${']'.repeat(depth)}\n`
    t.match(problems(t, text), [/^3:\d+ {2}\(config\): it is nested too deeply$/])
  }
})

t.test('a byte order mark and CR LF in a config file change nothing', async (t) => {
  t.strictSame(problems(t, `\uFEFF${good.replaceAll('\n', '\r\n')}`), [])
  t.strictSame(problems(t, `\uFEFF${good}nope: 1\n`.replaceAll('\n', '\r\n')), ['3:1  nope: unknown option'])
})

t.test("names on every object's prototype are unknown options", async (t) => {
  const text = `${good}__proto__: { x: 1 }\nconstructor: 1\ntoString: 2\nops: { hasOwnProperty: 1 }\n`
  t.strictSame(problems(t, text), [
    '3:1  __proto__: unknown option',
    '4:1  constructor: unknown option',
    '5:1  toString: unknown option',
    '6:8  ops.hasOwnProperty: unknown option',
  ])
  t.equal(Object.hasOwn(Object.prototype, 'x'), false)
})

t.test('YAML 1.1 shortcuts are not read: << does not merge, no and on are strings', async (t) => {
  t.strictSame(problems(t, `${good}<<: { ops: { port: 1 } }\n`), ['3:1  <<: unknown option'])
  t.match(problems(t, `${good}log: { access: no }\n`), ['3:16  log.access: must be true or false'])
})

t.test('control characters of a config file are escaped in problems', async (t) => {
  const text = `${good}"\\e[31mred\\a": 1\n"a\\r\\n\\0b": 1\n"\\u202Eabc\\u2028": 1\nlog: { level: "\\e[0m" }\n`
  const [red, lines, turned, ...others] = problems(t, text)
  t.equal(red, '3:1  \\u001b[31mred\\u0007: unknown option')
  t.equal(lines, '4:1  a\\u000d\\u000a\\u0000b: unknown option')
  t.equal(turned, '5:1  \\u202eabc\\u2028: unknown option')
  t.equal(others.length, 1)
  const upstream = good.replace('routes: []', 'routes: [{ name: r, path: /, upstream: "\\e[1m", auth: any }]')
  t.match(problems(t, upstream), ['2:40  routes[0].upstream: unknown upstream "\\u001b[1m"'])
})
