import t from 'tap'
import { until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import { place, sealingKey } from './place.ts'
import { runProgram, serve } from './run.ts'

const withKey = { 'data/sealing.key': sealingKey }
const onRedis = (redis: object) => ({ store: { driver: 'redis', redis } })

t.test('a Redis that cannot be used is told with the reason, not with the words of a driver', async (t) => {
  const server = await startRedis(t, ['--requirepass', 'correct-horse'])
  const url = `redis://127.0.0.1:${server.port}`
  const reasons: readonly (readonly [what: string, redis: object, reason: RegExp])[] = [
    ['nobody listens', { url: 'redis://127.0.0.1:1' }, /connection refused/i],
    [
      'there is no such host',
      { url: 'redis://gatehouse.invalid:6379' },
      /there is no host gatehouse\.invalid/,
    ],
    ['no password', { url }, /password|authentication|NOAUTH/i],
    ['a wrong password', { url, password: { env: 'PASSWORD' } }, /password|WRONGPASS/i],
    [
      'a Cluster of which no node is there',
      { cluster: { nodes: ['127.0.0.1:1'] } },
      /connection refused|none of its nodes/i,
    ],
    [
      'Sentinels of which none is there',
      { sentinel: { name: 'main', nodes: ['127.0.0.1:1'] } },
      /connection refused|sentinel/i,
    ],
  ]
  // At once: each of them waits for some seconds.
  const outcomes = await Promise.all(
    reasons.map(([, redis]) => {
      const { config, folder } = place(t, onRedis(redis), withKey)
      return runProgram(t, ['accounts', 'list', '--config', config], {
        cwd: folder,
        env: { PASSWORD: 'wrong-horse' },
      })
    }),
  )
  for (const [index, [what, , reason]] of reasons.entries()) {
    const outcome = outcomes[index]
    t.equal(outcome?.status, 1, what)
    t.equal(outcome?.stdout, '', what)
    t.match(outcome?.stderr, /^gatehouse: cannot reach Redis[\s\S]*store\.redis/, what)
    t.match(outcome?.stderr.replace('cannot reach Redis', ''), reason, what)
    t.notMatch(outcome?.stderr, /enableOfflineQueue|Stream isn't|horse/, what)
  }
})

t.test('a database that the Redis does not have is refused: it must not fall back on another', async (t) => {
  const { url } = await startRedis(t, ['--databases', '4'])
  const { run } = place(t, onRedis({ url: `${url}/9` }), withKey)
  const { status, stderr } = await run('accounts', 'create', '--email', 'ada@example.com')
  t.equal(status, 1)
  t.match(stderr, /Redis/)
  const list = await run('accounts', 'list', '--json', '--set', `store.redis.url=${url}/0`)
  t.equal(list.stdout, '[]\n')
})

t.test('without its sealing key nothing starts on Redis, and the way to make one is told', async (t) => {
  const { url } = await startRedis(t)
  const { run } = place(t, onRedis({ url }))
  for (const args of [['accounts', 'list'], ['serve']]) {
    const { status, stderr } = await run(...args)
    t.equal(status, 1)
    t.match(stderr, /keys\.sealingKey: cannot read .*\/data\/sealing\.key: no such file or directory/)
    t.match(stderr, /openssl rand -base64 32/)
  }
})

t.test(
  'the gateway starts without its Redis, says that it is not ready, and goes on by itself',
  async (t) => {
    const redis = await startRedis(t)
    await redis.stop()
    const { config } = place(t, onRedis({ url: redis.url }), withKey)
    const gateway = await serve(t, ['--config', config])
    const readiness = async () => (await fetch(`${gateway.opsUrl}/readyz`)).status
    t.equal(await readiness(), 503)
    t.equal((await fetch(`${gateway.opsUrl}/livez`)).status, 200)
    await redis.start()
    await until('it is ready', async () => (await readiness()) === 200 || undefined)
    gateway.child.kill('SIGTERM')
    t.equal((await gateway.ended).status, 0)
  },
)
