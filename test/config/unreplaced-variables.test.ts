import t, { type Test } from 'tap'
import { load, minimalConfig, type Options, problemMessages, read, withUpstream } from './config-fixtures.ts'

// As text in single quotes: in these files nothing is meant to be replaced either.
const variable = (name: string, rest = '') => `$${`{${name}${rest}}`}`

function found(t: Test, config: Options, env: Readonly<Record<string, string>> = {}): readonly string[] {
  return problemMessages(t, config, { env }).filter((message) => message.includes('is not replaced'))
}

t.test('a variable in a value is an error with the way out, in every form and at every place', (t) => {
  for (const value of [
    variable('HOST'),
    `http://${variable('HOST')}:80`,
    variable('HOST', ':-http://a'),
    variable('HOST', ':?missing'),
    variable('HOST', '-'),
    variable(''),
    `$${variable('HOST')}`,
  ]) {
    t.match(
      problemMessages(t, withUpstream({ targets: [{ url: value }] })).join('\n'),
      /upstreams\.backend\.targets\[0\]\.url: .*\$\{…\} is not replaced here: set GATEHOUSE__UPSTREAMS__BACKEND__TARGETS__0__URL to the whole value/,
      value,
    )
  }
  t.match(found(t, { ...minimalConfig, tokens: { audience: variable('AUDIENCE') } }), [
    /tokens\.audience: \$\{…\} is not replaced here: set GATEHOUSE__TOKENS__AUDIENCE to the whole value$/,
  ])
  t.match(found(t, { ...minimalConfig, keys: { sealingKey: { file: `${variable('DIR')}/key` } } }), [
    /keys\.sealingKey\.file: \$\{…\} is not replaced here: set GATEHOUSE__KEYS__SEALING_KEY__FILE/,
  ])
  t.end()
})

t.test('each value is said once, with what else is wrong with it, and is never repeated', (t) => {
  const messages = problemMessages(t, { ...minimalConfig, listen: { port: variable('SECRET_PORT') } })
  t.equal(messages.length, 1)
  t.match(messages[0], /listen\.port: must be .*; \$\{…\} is not replaced here: set GATEHOUSE__LISTEN__PORT/)
  t.notMatch(messages.join(), 'SECRET_PORT')
  t.end()
})

t.test('where a secret may stand, a variable with the value of it is the way out', (t) => {
  const set = { 'X-Api-Key': `Key ${variable('BACKEND_KEY')}`, 'X-Other': '$BACKEND_KEY, {BACKEND_KEY}' }
  const config = withUpstream({ headers: { set } })
  const name = 'GATEHOUSE__UPSTREAMS__BACKEND__HEADERS__SET__X_API_KEY'
  t.match(found(t, config), [
    `upstreams.backend.headers.set.X-Api-Key: \${…} is not replaced here: write { env: NAME }, or set ${name} to the whole value`,
  ])
  t.strictSame(found(t, config, { [name]: 'Key x' }), [], 'that variable sets it')
  t.match(found(t, config, { [name]: variable('OTHER') }).length, 1, 'but replaces nothing either')
  t.end()
})

t.test('a secret is taken as it stands, whatever is in it', (t) => {
  const text = `p${variable('HOME')}$$`
  const set = { 'X-Api-Key': { env: 'BACKEND_KEY' }, 'X-File': { file: 'token' } }
  const options = { env: { BACKEND_KEY: text, HOME: '/root' }, files: { 'config/token': text } }
  const { problems, config } = read(t, withUpstream({ headers: { set } }), options)
  t.strictSame(problems, [])
  t.match(JSON.stringify(config?.upstreams), JSON.stringify(text).slice(1, -1))
  t.end()
})

t.test('a dollar without braces is text, as in paths of OData', (t) => {
  const routes = [{ ...minimalConfig.routes[0], path: '/orders/$metadata' }]
  t.equal(load(t, { ...minimalConfig, routes }).routes[0]?.path, '/orders/$metadata')
  t.end()
})
