import t, { type Test } from 'tap'
import {
  load,
  minimalConfig,
  type Options,
  problemMessages,
  problems,
  withUpstream,
} from './config-fixtures.ts'

const env = (name: string, value: string) => ({ env: { [name]: value } })

t.test('a wrong overriding value is reported at the override, not the file', async (t) => {
  const text = JSON.stringify({ ...minimalConfig, listen: { port: 1 }, keys: { sealingKey: { file: 'a' } } })
  const problemsOf = (setting: string, around = {}) => problems(t, text, { ...around, settings: [setting] })
  t.strictSame(problemsOf('listen.port=x'), [
    '--set listen.port  listen.port: must be a whole number from 0 to 65535',
  ])
  t.match(problemsOf('trustedProxies=[1.2.3.4, a]'), [/^--set trustedProxies {2}trustedProxies\[1\]: /])
  t.match(problemsOf('keys.sealingKey.file=..'), [
    /^--set keys\.sealingKey\.file {2}keys\.sealingKey: cannot read/,
  ])
  t.strictSame(problemsOf('nope.x=1'), ['--set nope.x  nope: unknown option'])
  t.strictSame(problems(t, text, env('GATEHOUSE__NOPE__X', '1')), [
    '$GATEHOUSE__NOPE__X  nope: unknown option',
  ])
})

const refused: readonly (readonly [what: string, setting: string])[] = [
  ['an unknown option', 'listen.prot=1'],
  ['an unknown section', 'nope=1'],
  ['an option below a number', 'listen.port.x=1'],
  ['an option below a text', 'publicUrl.x=1'],
  ['a route by its name rather than its number', 'routes.all.auth=none'],
  ['a route counted from the end', 'routes[-1].auth=none'],
  ['a route far behind the last', 'routes[7].auth=none'],
  ['a number that no list can have', 'routes[4294967300].auth=none'],
  ['a number that is none', 'routes[0x0].auth=none'],
  ['no name', '=1'],
  ['nothing', ''],
  ['no value', 'listen.port'],
  ['a value that is no YAML', 'trustedProxies=['],
  ['a name that every object has', 'constructor.x=1'],
  ['such a name further down', 'listen.toString.x=1'],
  ['the prototype', '__proto__.polluted=1'],
  ['the prototype of a section', 'listen.__proto__.polluted=1'],
  ['the prototype by another way', 'constructor.prototype.polluted=1'],
]

for (const [what, setting] of refused) {
  t.test(`an override that sets nothing is refused: ${what}`, async (t) => {
    t.not(problemsOf(t, setting).length, 0)
    t.equal('polluted' in {}, false)
  })
}

t.test('an override that cannot be placed is reported by its name', async (t) => {
  const own = 'is below an option that is not a map or list'
  const reasons: readonly (readonly [setting: string, complaint: string])[] = [
    ['listen.port.x=1', `listen.port.x: ${own}`],
    ['publicUrl.x=1', `publicUrl.x: ${own}`],
    ['routes.all.auth=none', 'routes.all.auth: an item of a list is identified by its index, counted from 0'],
    ['routes[2].auth=none', 'routes[2].auth: the next index of the list is 1'],
    ['=1', '(config): does not name an option'],
  ]
  for (const [setting, complaint] of reasons) t.strictSame(problemsOf(t, setting), [complaint], setting)
})

t.test("an option that an override leaves incomplete is reported by the override's name", async (t) => {
  const around = { settings: ['upstreams.1.connections=5', 'routes[1].name=second'] }
  const place = (setting: string) => `--set ${setting}`
  t.strictSame(problems(t, JSON.stringify(minimalConfig), around).toSorted(), [
    `${place('routes[1].name')}  routes[1].auth: is missing`,
    `${place('routes[1].name')}  routes[1].path: is missing`,
    `${place('routes[1].name')}  routes[1].upstream: is missing`,
    `${place('upstreams.1.connections')}  upstreams.1.targets: is missing`,
  ])
})

t.test('overrides may append to a list, one item after the other', async (t) => {
  const settings = ['trustedProxies[0]=10.0.0.1', 'trustedProxies[1]=10.0.0.2']
  t.strictSame(problemMessages(t, minimalConfig, { settings }), [])
  t.strictSame(problemMessages(t, minimalConfig, { settings: settings.toReversed() }), [
    'trustedProxies[1]: the next index of the list is 0',
  ])
})

function problemsOf(t: Test, setting: string): readonly string[] {
  const options: Options = { ...withUpstream({}), listen: { port: 1 }, publicUrl: 'http://a' }
  // A bug that changes the prototype of all objects must not affect the other tests.
  t.teardown(() => Reflect.deleteProperty(Object.prototype, 'polluted'))
  return problemMessages(t, options, { settings: [setting] })
}

t.test('an environment override that cannot be placed is reported like a flag', async (t) => {
  for (const name of [
    'ROUTES__ALL__AUTH',
    'LISTEN__PORT__X',
    'CONSTRUCTOR__X',
    'NOPE',
    '',
    '__',
    'LISTEN__',
  ]) {
    const found = problemMessages(
      t,
      { ...minimalConfig, listen: { port: 1 } },
      env(`GATEHOUSE__${name}`, '1'),
    )
    t.not(found.length, 0, name)
  }
})

t.test('two variables for one option are a problem: neither is the later one', async (t) => {
  const twice = { GATEHOUSE__LISTEN__PORT: '1', GATEHOUSE__Listen__Port: '2', GATEHOUSE__LISTEN__HOST: '::1' }
  const message = '$GATEHOUSE__Listen__Port  listen.port: is already set by $GATEHOUSE__LISTEN__PORT'
  t.strictSame(problems(t, JSON.stringify(minimalConfig), { env: twice }), [message])
})

t.test('a variable for a section and one for an option in it are a problem in either order', async (t) => {
  const section = ['GATEHOUSE__LISTEN', '{ port: 1111 }'] as const
  const option = ['GATEHOUSE__LISTEN__PORT', '2222'] as const
  const other = ['GATEHOUSE__OPS__PORT', '3333'] as const
  const problemsOf = (...variables: readonly (readonly [string, string])[]) =>
    problems(t, JSON.stringify(minimalConfig), { env: Object.fromEntries(variables) })
  t.strictSame(problemsOf(section, other, option), [
    '$GATEHOUSE__LISTEN__PORT  listen.port: is in listen, which $GATEHOUSE__LISTEN sets as a whole: set it there',
  ])
  t.strictSame(problemsOf(option, other, section), [
    '$GATEHOUSE__LISTEN  listen: has an option that $GATEHOUSE__LISTEN__PORT sets, listen.port: set it here',
  ])
  const routes = ['GATEHOUSE__ROUTES', '[{ name: a, path: /, upstream: backend, auth: any }]'] as const
  t.match(problemsOf(routes, ['GATEHOUSE__ROUTES__0__AUTH', 'none']), [/^\$GATEHOUSE__ROUTES__0__AUTH /])
  t.strictSame(problemsOf(section, other), [])
})

t.test('flags for a section and an option in it apply in their order, and after a variable', async (t) => {
  const port = (settings: readonly string[], variables = {}) =>
    load(t, minimalConfig, { settings, env: variables }).listen.port
  t.equal(port(['listen={ port: 1111 }', 'listen.port=2222']), 2222)
  t.equal(port(['listen.port=2222', 'listen={ port: 1111 }']), 1111)
  t.equal(port(['listen.port=2222'], { GATEHOUSE__LISTEN: '{ port: 1111 }' }), 2222)
})
