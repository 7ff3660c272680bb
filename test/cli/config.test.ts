import t from 'tap'
import { publishedSchema } from '#config/schema/schema.ts'
import { run, start, tempFolder } from './run.ts'
import { createWorkspace } from './workspace.ts'

t.test('config schema prints the JSON Schema, and needs no config', async (t) => {
  for (const args of [
    ['config', 'schema'],
    ['config', 'schema', '--json'],
  ]) {
    const outcome = await run(t, args, { cwd: tempFolder(t) })
    t.equal(outcome.status, 0)
    t.strictSame(outcome.json(), JSON.parse(JSON.stringify(publishedSchema())))
    t.equal(outcome.stderr, '')
  }
})

t.test('config show prints every option in effect, aligned, with its source', async (t) => {
  const { config, run } = createWorkspace(
    t,
    {},
    { 'gateway.yaml': 'upstreams: {}\nroutes: []\nlog:\n  level: warn\n' },
  )
  const { status, stdout, stderr } = await run('config', 'show', '--set', 'listen.port=81')
  t.equal(status, 0)
  t.equal(stderr, '')
  t.match(stdout, new RegExp(`^log\\.level: warn +${config}:4:10$`, 'm'))
  t.match(stdout, /^listen\.port: 81 +--set listen\.port$/m)
  t.match(stdout, /^tokens\.issuer: null +default$/m)
  t.match(stdout, /^keys\.sealingKey: \[secret\] +default$/m)
  const lines = stdout.trimEnd().split('\n')
  const columns = lines.map((line) => line.search(/(?<= {2})(?:default|--set|\/)/))
  t.equal(new Set(columns).size, 1, 'the sources stand below each other')
})

t.test('config show --json has path, value and source of each option', async (t) => {
  const { config, run } = createWorkspace(t)
  const outcome = await run('config', 'show', '--json')
  t.equal(outcome.status, 0)
  const options = outcome.json() as readonly Record<string, unknown>[]
  t.ok(options.length > 40)
  for (const option of options) t.strictSame(Object.keys(option), ['path', 'value', 'source'])
  t.match(
    options.find(({ path }) => path === 'listen.port'),
    { value: 0, source: new RegExp(`^${config}:1:\\d+$`) },
  )
  t.strictSame(
    options.find(({ path }) => path === 'log.access'),
    { path: 'log.access', value: true, source: 'default' },
  )
})

t.test('config show names variables of the environment', async (t) => {
  const { config } = createWorkspace(t)
  const env = { GATEHOUSE__LOG__LEVEL: 'debug', GATEHOUSE_CONFIG: config }
  const { stdout } = await run(t, ['config', 'show'], { env })
  t.match(stdout, /^log\.level: debug +\$GATEHOUSE__LOG__LEVEL$/m)
})

t.test('config show of a bad config reports every problem and shows nothing', async (t) => {
  const { config, run } = createWorkspace(t, {}, { 'gateway.yaml': 'upstreams: {}\nroutes: {}\nnope: 1\n' })
  for (const args of [[], ['--json']]) {
    const { status, stdout, stderr } = await run('config', 'show', ...args)
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(stderr, `${config}:2:9  routes: must be a list`)
    t.match(stderr, `${config}:3:1  nope: unknown option`)
  }
})

t.test('a reader that goes away early ends the command quietly', async (t) => {
  // Far more than a pipe buffers, so that writing continues after the reader has exited.
  const upstream = { targets: [{ url: 'http://127.0.0.1:3000' }] }
  const upstreams = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`u${index}`, upstream]))
  const { config } = createWorkspace(t, { upstreams, routes: [] })
  const { child, ended } = start(t, ['config', 'show', '--config', config])
  child.stdout.once('data', () => child.stdout.destroy())
  const { stdout, stderr } = await ended
  t.match(stdout, /^\S+: /)
  t.equal(stderr, '')
})
