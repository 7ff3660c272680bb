import { readdirSync } from 'node:fs'
import t from 'tap'
import { run, tempFolder } from './run.ts'
import { createWorkspace } from './workspace.ts'

/** What `check --json` prints. */
interface CheckAnswer {
  readonly problems: readonly { readonly source: string; readonly path: string; readonly message: string }[]
}

const routes = [
  { name: 'all', path: '/', upstream: 'backend', auth: 'none' },
  { name: 'admin', path: '/admin', upstream: 'backend', auth: 'any' },
]

t.test('check reports a valid config, with a summary', async (t) => {
  const { config, run } = createWorkspace(t)
  const { status, stdout, stderr } = await run('check')
  t.equal(status, 0)
  t.equal(stdout, `${config} is valid: 1 route, 1 upstream.\n`)
  t.equal(stderr, '')
  const { stdout: none } = await run('check', '--set', 'routes=[]')
  t.match(none, /^warning: .+ {2}routes: is empty: .+\n.+: 0 routes, 1 upstream\.\n$/)
})

t.test('check accepts the shipped configs as they are', async (t) => {
  const { status, stdout } = await run(t, ['check'])
  t.equal(status, 0)
  t.equal(stdout, 'config/gateway.yaml is valid: 1 route, 1 upstream.\n')
})

t.test('check prints each problem with its place, and exits with status 1', async (t) => {
  const { config, run } = createWorkspace(
    t,
    {},
    { 'gateway.yaml': 'upstreams: {}\nroutes: []\nlog:\n  levl: info\n' },
  )
  const { status, stdout, stderr } = await run('check', '--set', 'listen.port=x')
  t.equal(status, 1)
  t.strictSame(stdout.split('\n'), [
    `${config}:4:3  log.levl: unknown option, did you mean "level"?`,
    '--set listen.port  listen.port: must be a whole number from 0 to 65535',
    `${config} has 2 problems.`,
    '',
  ])
  t.equal(stderr, '', 'problems are what was asked for: they go to standard output')
})

t.test('check warns of risks without failing', async (t) => {
  const { config, run } = createWorkspace(t, { routes })
  const { status, stdout } = await run('check')
  t.equal(status, 0)
  const [warning, note, verdict] = stdout.split('\n')
  t.match(warning, `warning: ${config}:1:`)
  t.match(warning, /routes\[0\]\.auth: route "all" is public and matches every path/)
  t.match(
    note,
    /^note: .+ {2}routes\[0\]\.path: route "all" refuses \/Admin, which matches "admin" only if case is ignored: .+ set caseSensitive: true$/,
  )
  t.equal(verdict, `${config} is valid: 2 routes, 1 upstream.`)
})

t.test('a variable with one underscore, which is not read, is warned of', async (t) => {
  const { config } = createWorkspace(t)
  const { stdout } = await run(t, ['check', '--config', config], { env: { GATEHOUSE_LISTEN_PORT: '80' } })
  t.match(stdout, /^warning: \$GATEHOUSE_LISTEN_PORT {2}listen\.port: .+ GATEHOUSE__LISTEN__PORT\?\n/)
})

t.test('check --json reports the same problems as the text', async (t) => {
  const { config, run } = createWorkspace(t, { routes })
  const good = await run('check', '--json')
  t.equal(good.status, 0)
  t.match(good.json(), {
    file: config,
    valid: true,
    problems: [
      {
        file: config,
        line: 1,
        column: Number,
        path: 'routes[0].auth',
        message: /^route "all" is public [^:]+$/,
        hint: 'give it auth: any, or a longer path',
        severity: 'warning',
      },
      { path: 'routes[0].path', message: /^route "all" refuses \/Admin/, severity: 'note' },
    ],
  })
  const bad = await run('check', '--json', '--set', 'listen.prot=x')
  t.equal(bad.status, 1)
  t.strictSame(bad.json(), {
    file: config,
    valid: false,
    problems: [
      {
        source: '--set listen.prot',
        file: null,
        line: null,
        column: null,
        path: 'listen.prot',
        message: 'unknown option',
        hint: 'did you mean "port"?',
        severity: 'error',
      },
    ],
  })
  t.equal(bad.stderr, '')
})

t.test('check prints every problem, however many there are, and nothing else among them', async (t) => {
  const names = Array.from({ length: 250 }, (_, index) => `nope${index}`)
  const { run } = createWorkspace(t, Object.fromEntries(names.map((name) => [name, 1])))
  const lines = (await run('check')).stdout.trimEnd().split('\n')
  const { problems } = (await run('check', '--json')).json() as CheckAnswer
  t.match(lines.pop(), /has 250 problems\.$/)
  t.strictSame(
    problems.map(({ source, path, message }) => `${source}  ${path}: ${message}`),
    lines,
  )
  t.equal(problems.length, names.length)
  for (const line of lines) t.match(line, /:\d+:\d+ {2}nope\d+: unknown option/)
})

t.test('check prints every warning, however many there are', async (t) => {
  const names = Array.from({ length: 150 }, (_, index) => `backend-${index}`)
  const unverified = { targets: [{ url: 'https://127.0.0.1:1' }], tls: { verify: false } }
  const upstreams = Object.fromEntries(names.map((name) => [name, unverified]))
  const { run } = createWorkspace(t, { upstreams, routes: [] })
  const { problems } = (await run('check', '--json')).json() as CheckAnswer
  const named = problems.map(({ path }) => /^upstreams\.(backend-\d+)\.tls\.verify$/.exec(path)?.[1])
  t.strictSame(new Set(named.filter((name) => name !== undefined)), new Set(names))
})

t.test('check reports an unreadable config on stderr, with a remedy', async (t) => {
  const folder = tempFolder(t)
  for (const [args, reason] of [
    [['check'], 'cannot read the config file config/gateway.yaml: no such file or directory'],
    [['check', '--json', '--config', folder], `cannot read the config file ${folder}: it is a folder`],
  ] as const) {
    const { status, stdout, stderr } = await run(t, args, { cwd: folder })
    t.equal(status, 1)
    t.equal(stdout, '')
    t.match(stderr, `gatehouse: ${reason}\n`)
    t.match(stderr, '--config FILE')
  }
})

t.test('GATEHOUSE_CONFIG names the config, and --config wins over it', async (t) => {
  const first = createWorkspace(t)
  const second = createWorkspace(t)
  const env = { GATEHOUSE_CONFIG: first.config }
  t.match(await run(t, ['check'], { env }), { stdout: `${first.config} is valid` })
  t.match(await run(t, ['check', '--config', second.config], { env }), {
    stdout: `${second.config} is valid`,
  })
})

t.test('check creates neither a database nor a sealing key', async (t) => {
  const { folder, run } = createWorkspace(t)
  await run('check')
  const { stdout } = await run('check', '--set', `keys.sealingKey.file=${folder}/data/other.key`)
  t.match(stdout, 'is valid')
  t.strictSame(readdirSync(folder), ['gateway.yaml'])
})

const mistakes: readonly (readonly [what: string, text: string])[] = [
  ['an alias that was meant as a wildcard', 'upstreams: {}\nroutes: []\npublicUrl: *.example.com\n'],
  ['an upstream whose name is a number', 'upstreams:\n  1: {}\nroutes: []\n'],
  ['a key that is a list', 'upstreams: {}\nroutes: []\n? [a, b]\n: c\n'],
  ['binary content', '\u0000\u0001\u0002'],
]

for (const [what, text] of mistakes) {
  t.test(`a mistake in the file is a problem with a place, and nothing else: ${what}`, async (t) => {
    const { config, runProgram } = createWorkspace(t, {}, { 'gateway.yaml': text })
    // A separate process: Node and the parser may print warnings too.
    const { status, stdout, stderr } = await runProgram('check')
    t.equal(status, 1)
    t.match(stdout, new RegExp(`^${config}:\\d+:\\d+ {2}`))
    t.equal(stderr, '')
  })
}

t.test('check reports an override that cannot be placed as a problem', async (t) => {
  const { run } = createWorkspace(t)
  for (const setting of [
    'constructor.x=1',
    '__proto__.x=1',
    'routes.all.auth=none',
    'upstreams.1.connections=5',
  ]) {
    const { status, stdout } = await run('check', '--set', setting)
    t.equal(status, 1, setting)
    t.match(stdout, `--set ${setting.split('=')[0]}  `, setting)
  }
})
