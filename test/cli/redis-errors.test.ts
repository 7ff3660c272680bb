import t from 'tap'
import { startBackend } from '../setup/backend.ts'
import { until } from '../setup/net.ts'
import { redisCommand, startRedis } from '../setup/redis.ts'
import { run, runProgram, serve } from './run.ts'
import { createWorkspace, sealingKey } from './workspace.ts'

// slow: starts commands and gateways against faults of Redis

const withKey = { 'data/sealing.key': sealingKey }
const onRedis = (redis: object) => ({ store: { driver: 'redis', redis } })

t.test("an unusable Redis is reported with the reason, not in the driver's words", async (t) => {
  const server = await startRedis(t, ['--requirepass', 'correct-horse'])
  const backend = await startBackend(t)
  const url = `redis://127.0.0.1:${server.port}`
  const wrong = /: WRONGPASS: the user or password in store\.redis is wrong\n$/
  const reasons: readonly (readonly [what: string, redis: object, reason: RegExp])[] = [
    ['nobody listens', { url: 'redis://127.0.0.1:1' }, /connection refused/i],
    ['there is no such host', { url: 'redis://gatehouse.invalid:6379' }, /host gatehouse\.invalid not found/],
    ['no password', { url }, /: NOAUTH: it requires a password, so set store\.redis\.password\n$/],
    ['a wrong password', { url, password: { env: 'PASSWORD' } }, wrong],
    ['a wrong password in the URL', { url: { env: 'PLACE' } }, wrong],
    [
      'another server',
      { url: backend.url.replace('http:', 'redis:') },
      /: what answers there is not Redis: see store\.redis in the config\n$/,
    ],
    [
      'a Cluster of which no node is there',
      { cluster: { nodes: ['127.0.0.1:1'] } },
      /connection refused|no cluster node/i,
    ],
    [
      'Sentinels of which none is there',
      { sentinel: { name: 'main', nodes: ['127.0.0.1:1'] } },
      /connection refused|sentinel/i,
    ],
  ]
  // Concurrently: each of them waits for some seconds.
  const outcomes = await Promise.all(
    reasons.map(([, redis]) => {
      const { config, folder } = createWorkspace(t, onRedis(redis), withKey)
      return runProgram(t, ['accounts', 'list', '--config', config], {
        cwd: folder,
        env: { PASSWORD: 'wrong-horse', PLACE: url.replace('//', '//:wrong-horse@') },
      })
    }),
  )
  for (const [index, [what, , reason]] of reasons.entries()) {
    const outcome = outcomes[index]
    t.equal(outcome?.status, 1, what)
    t.equal(outcome?.stdout, '', what)
    t.match(
      outcome?.stderr,
      /^gatehouse: cannot reach Redis[^\n]* (127\.0\.0\.1|gatehouse\.invalid):\d+/,
      what,
    )
    t.match(outcome?.stderr, /store\.redis/, what)
    t.match(outcome?.stderr.replace('cannot reach Redis', ''), reason, what)
    t.notMatch(outcome?.stderr, /enableOfflineQueue|Stream isn't|maxRetries|Retrying|horse/, what)
  }
})

t.test(
  'a command without its Redis gives up soon, and says if other instances must be asked first',
  async (t) => {
    const single = createWorkspace(t, onRedis({ url: { env: 'PLACE' } }), withKey)
    const nodes = ['127.0.0.1:1']
    const sentinel = createWorkspace(t, onRedis({ sentinel: { name: 'main', nodes } }), withKey)
    const ended: string[] = []
    // Side by side on a busy machine: one waits for 1.5 s, the other for 5 s until a Sentinel has named a master.
    const [alone, asking] = await Promise.all([
      run(t, ['accounts', 'list', '--config', single.config], {
        env: { PLACE: 'redis://ada:battery-staple@127.0.0.1:1/0' },
      }).finally(() => ended.push('alone')),
      sentinel.run('accounts', 'list').finally(() => ended.push('asking')),
    ])
    t.equal(alone.status, 1)
    t.match(
      alone.stderr,
      /^gatehouse: cannot reach Redis at 127\.0\.0\.1:1: connection refused\n {2}Redis must be running/,
    )
    t.notMatch(alone.stderr, /battery|ada/)
    t.match(
      asking.stderr,
      /"main"[^\n]*127\.0\.0\.1:1.*\n {2}.*No Sentinel named a reachable master within 5 s/,
    )
    t.strictSame(ended, ['alone', 'asking'])
  },
)

t.test("a hanging Redis is reported without the driver's words", async (t) => {
  const server = await startRedis(t)
  const { run } = createWorkspace(t, onRedis({ url: server.url }), withKey)
  server.signal('SIGSTOP')
  const { status, stderr } = await run('accounts', 'list')
  server.signal('SIGCONT')
  t.equal(status, 1)
  t.match(
    stderr,
    new RegExp(
      `^gatehouse: cannot reach Redis at 127\\.0\\.0\\.1:${server.port}: no answer within the timeout`,
    ),
  )
  t.notMatch(stderr, /enableOfflineQueue|Stream isn't|Command timed out/)
})

t.test('an unreplicated change is reported as unconfirmed, and its keys are shown', async (t) => {
  const { url } = await startRedis(t)
  const { run } = createWorkspace(t, onRedis({ url, replicas: 1 }), withKey)
  const sure = (...args: readonly string[]) => run(...args, '--set', 'store.redis.replicas=0')
  const doubt = /^gatehouse: the change is unconfirmed: only 0 of 1 replicas/
  const email = 'ada@example.com'

  const created = await run('accounts', 'create', '--email', email, '--json')
  t.equal(created.status, 1)
  t.match(created.stderr, doubt)
  t.match(created.json(), { email, secretKey: /^gate_sk_/, apiKey: /^gate_ak_/ })
  t.strictSame((await sure('keys', 'show', email, '--json')).json(), {
    secretKey: (created.json() as { readonly secretKey: string }).secretKey,
    apiKey: (created.json() as { readonly apiKey: string }).apiKey,
  })

  for (const [command, member] of [
    ['reset-secret', 'secretKey'],
    ['reset-api', 'apiKey'],
  ] as const) {
    const reset = await run('keys', command, email, '--json')
    t.equal(reset.status, 1, command)
    t.match(reset.stderr, doubt, command)
    t.match((await sure('keys', 'show', email, '--json')).json(), reset.json() as object, command)
    const printed = await run('keys', command, email)
    t.equal(printed.status, 1, command)
    t.match(
      printed.stdout,
      /^New (secret|API) key \(unconfirmed: valid only if the change was saved\):\n {2}gate_[sa]k_\S+\n$/,
      command,
    )
    const shown = (await sure('keys', 'show', email, '--json')).json() as Readonly<Record<string, string>>
    t.ok(printed.stdout.includes(shown[member] ?? '-'), command)
  }

  const updated = await run('accounts', 'update', email, '--role', 'Admin')
  t.equal(updated.status, 1)
  t.equal(updated.stdout, '')
  t.match(updated.stderr, doubt)
})

t.test('a Redis that was flushed under a gateway takes no command for a new beginning', async (t) => {
  const redis = await startRedis(t)
  const { config, run } = createWorkspace(t, onRedis({ url: redis.url }), withKey)
  await serve(t, ['--config', config])
  const { stdout } = await run('accounts', 'create', '--email', 'ada@example.com')
  t.match(stdout, /gate_sk_/)
  await redisCommand(redis.port, 'FLUSHALL')
  await until('the gateway misses it', async () =>
    (await redisCommand(redis.port, 'EXISTS gh:{account}:lost-id')).startsWith(':1'),
  )
  for (const args of [
    ['accounts', 'create', '--email', 'eve@example.com'],
    ['accounts', 'list'],
    ['signing-keys', 'rotate'],
  ]) {
    const refused = await run(...args)
    t.equal(refused.status, 1)
    t.equal(refused.stdout, '')
    t.match(refused.stderr, /^gatehouse: Redis has lost its data: restore it; or,.* stop all gateways/)
  }
  t.match(await redisCommand(redis.port, 'EXISTS gh:{account}:store-id'), /^:0/)
})

t.test('a database that the Redis does not have is refused: it must not fall back on another', async (t) => {
  const { url } = await startRedis(t, ['--databases', '4'])
  const { run } = createWorkspace(t, onRedis({ url: `${url}/9` }), withKey)
  const { status, stderr } = await run('accounts', 'create', '--email', 'ada@example.com')
  t.equal(status, 1)
  t.match(stderr, /Redis/)
  const list = await run('accounts', 'list', '--json', '--set', `store.redis.url=${url}/0`)
  t.equal(list.stdout, '[]\n')
})

t.test('nothing starts on Redis without its sealing key, and the error says how to make one', async (t) => {
  const { url } = await startRedis(t)
  const { run } = createWorkspace(t, onRedis({ url }))
  for (const args of [['accounts', 'list'], ['serve']]) {
    const { status, stderr } = await run(...args)
    t.equal(status, 1)
    t.match(stderr, /keys\.sealingKey: cannot read .*\/data\/sealing\.key: no such file or directory/)
    t.match(stderr, /openssl rand -base64 32/)
  }
})

t.test('the gateway starts without its Redis, is not ready, and recovers without a restart', async (t) => {
  const redis = await startRedis(t)
  await redis.stop()
  const { config } = createWorkspace(t, onRedis({ url: redis.url }), withKey)
  const gateway = await serve(t, ['--config', config])
  const readiness = async () => (await fetch(`${gateway.opsUrl}/readyz`)).status
  t.equal(await readiness(), 503)
  t.equal((await fetch(`${gateway.opsUrl}/livez`)).status, 200)
  const lines = await until('the log says so', () => {
    const errors = gateway.output.stdout.split('\n').filter((line) => line.includes('"level":"error"'))
    return errors.length > 0 ? errors : undefined
  })
  t.equal(lines.length, 1)
  t.match(JSON.parse(lines[0] ?? ''), {
    msg: 'store unreachable',
    err: { message: /^cannot reach Redis at 127\.0\.0\.1:\d+: connection refused$/ },
  })
  t.notMatch(lines[0], /stack|\.ts:/, 'no stack trace: nothing is wrong with the program')
  t.ok((lines[0]?.length ?? 0) < 300, 'a line that can be read')
  await redis.start()
  await until('it is ready', async () => (await readiness()) === 200 || undefined)
  gateway.child.kill('SIGTERM')
  t.equal((await gateway.ended).status, 0)
})

t.test('data of a newer version is refused by every command and at the start, with what to do', async (t) => {
  const redis = await startRedis(t)
  const { run } = createWorkspace(t, onRedis({ url: redis.url }), withKey)
  t.equal((await run('accounts', 'create', '--email', 'ada@example.com')).status, 0)
  await redisCommand(redis.port, 'SET gh:{account}:format 2')
  for (const args of [['accounts', 'list'], ['signing-keys', 'rotate'], ['audit', 'verify'], ['serve']]) {
    const { status, stdout, stderr } = await run(...args)
    t.equal(status, 1, args.join(' '))
    t.equal(stdout.replace(/^\{.*\n/gm, ''), '')
    t.match(
      stderr,
      /^gatehouse: the data in Redis was written by a newer version of Gatehouse \(format 2; this version supports up to 1\)\n {2}Run that version; .*store\.redis\.keyPrefix/m,
    )
  }
})
