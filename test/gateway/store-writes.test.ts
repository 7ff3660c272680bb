import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { redisCommand, startRedis } from '../setup/redis.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'

// slow: waits for stores that do not answer

interface Readiness {
  readonly status: string
  readonly reason?: string
  readonly refused?: readonly string[]
}

async function readiness({ opsUrl }: TestGateway): Promise<Readiness & { readonly code: number }> {
  const answer = await fetch(`${opsUrl}/readyz`)
  return { code: answer.status, ...((await answer.json()) as Readiness) }
}

const counted = ({ logLines }: TestGateway, text: string) =>
  logLines.filter((line) => line.includes(`"msg":"${text}`)).length

interface Fault {
  readonly gateway: TestGateway
  begin(): unknown
  end(): unknown
  readonly reason: RegExp
}

/** A read-only store: reported as long as it lasts, while callers are still served. */
async function assertTold(t: Test, { gateway, begin, end, reason }: Fault): Promise<void> {
  const account = await gateway.createAccount()
  const key = [`SecretKey: ${account.secretKey}`]
  t.equal((await ask(t, gateway.url, 'GET /key', key)).status, 200)
  t.match(await readiness(gateway), { code: 200, status: 'ok' })
  t.equal((await readMetrics(gateway.opsUrl)).value('gatehouse_store_writable'), 1)

  await begin()
  await gateway.post('/api/v1/accounts/access-token', {
    SecretKey: account.secretKey,
    APIKey: account.apiKey,
  })
  const report = await until('readiness reports it', async () => {
    const now = await readiness(gateway)
    return now.status === 'degraded' ? now : undefined
  })
  t.equal(report.code, 200, 'callers can still be let in')
  t.match(report.reason, /^the store rejects writes: /)
  t.match(report.reason, reason)
  t.ok(report.refused?.includes('issuing and refreshing tokens'))
  const metrics = await readMetrics(gateway.opsUrl)
  t.equal(metrics.value('gatehouse_store_writable'), 0)
  t.equal(metrics.value('gatehouse_store_up'), 1)
  t.equal((await ask(t, gateway.url, 'GET /key', key)).status, 200)
  const page = await (await fetch(`${gateway.opsUrl}/status`)).text()
  t.match(page, 'read-only')
  t.match(page, 'Writes are rejected: ')
  t.match(await (await fetch(`${gateway.opsUrl}/status?json`)).json(), {
    status: 'degraded',
    store: { isUp: true, isWritable: false, writesRefused: reason },
  })

  await end()
  await until('it is over', async () => (await readiness(gateway)).status === 'ok' || undefined)
  await until('the metric follows', async () => {
    const { value } = await readMetrics(gateway.opsUrl)
    return value('gatehouse_store_writable') === 1 || undefined
  })
  t.equal(counted(gateway, 'store rejects writes'), 1, 'one line when it begins')
  t.equal(counted(gateway, 'store accepts writes again'), 1, 'one line when it ends')
  await gateway.tokens(account)
}

const sqliteOf = ({ configFile }: TestGateway) => join(dirname(configFile), 'gatehouse.db')

t.test('a write lock held by another process is reported as refused writes', async (t) => {
  const gateway = await startBoth(t)
  const other = new DatabaseSync(sqliteOf(gateway))
  await assertTold(t, {
    gateway,
    begin: () => other.exec('BEGIN IMMEDIATE'),
    end: () => other.exec('ROLLBACK'),
    reason: /locked/,
  })
  other.close()
})

t.test('a full disk is reported as refused writes', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-full-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder])
  if (mounted.status !== 0)
    return void t.pass('told', { skip: 'only a user who may mount can make a small disk' })
  const config = { store: { sqlite: { path: join(folder, 'gatehouse.db') } } }
  const gateway = await startBoth(t, { config })
  t.teardown(() => execFileSync('umount', ['-l', folder]))
  const ballast = join(folder, 'ballast')
  await assertTold(t, {
    gateway,
    begin: async () => {
      spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k'])
      // Until the log of SQLite has used up the room that it has already.
      const account = { email: 'f@example.com', firstName: 'F'.repeat(90), lastName: 'L', role: 'User' }
      await gateway
        .operate(async ({ accounts }) => {
          for (let turn = 0; turn < 500; turn++)
            await accounts.create({ ...account, email: `${turn}@example.com`, isVerified: true })
        })
        .catch(() => {})
    },
    end: () => rmSync(ballast),
    reason: /full|I\/O/,
  })
})

const onRedis = async (t: Test, args: readonly string[] = []) => {
  const redis = await startRedis(t, args)
  const gateway = await startBoth(t, { driver: 'redis', redis })
  return { gateway, redis, say: (command: string) => redisCommand(redis.port, command) }
}

t.test('a Redis whose memory is full is reported as refused writes', async (t) => {
  const { gateway, say } = await onRedis(t)
  await assertTold(t, {
    gateway,
    begin: () => say('CONFIG SET maxmemory 1'),
    end: () => say('CONFIG SET maxmemory 0'),
    reason: /OOM/,
  })
})

t.test('a Redis that has become a replica is reported as refused writes', async (t) => {
  const master = await startRedis(t)
  const { gateway, redis, say } = await onRedis(t)
  await assertTold(t, {
    gateway,
    begin: () => say('REPLICAOF 127.0.0.1 1'),
    end: () => say('REPLICAOF NO ONE'),
    reason: /READONLY/,
  })
  t.not(redis.port, master.port)
})

t.test('a Redis that lacks replicas is reported as refused writes', async (t) => {
  const { gateway, say } = await onRedis(t)
  await assertTold(t, {
    gateway,
    begin: () => say('CONFIG SET min-replicas-to-write 1'),
    end: () => say('CONFIG SET min-replicas-to-write 0'),
    reason: /NOREPLICAS/,
  })
})

t.test('refused writes are detected while there is nothing to write', async (t) => {
  const { gateway, say } = await onRedis(t)
  await say('CONFIG SET maxmemory 1')
  await until(
    'readiness reports it',
    async () => (await readiness(gateway)).status === 'degraded' || undefined,
  )
})

t.test('several workers report refused writes as one', async (t) => {
  const redis = await startRedis(t)
  const gateway = await startGateway(t, {
    driver: 'redis',
    redis,
    config: { listen: { port: 0, workers: 2 }, log: { level: 'silent' } },
  })
  await redisCommand(redis.port, 'CONFIG SET maxmemory 1')
  const report = await until('readiness reports it', async () => {
    const now = await readiness(gateway)
    return now.status === 'degraded' ? now : undefined
  })
  t.match(report, { code: 200, reason: /OOM/ })
  await until('every worker says so', async () => {
    return (await readMetrics(gateway.opsUrl)).value('gatehouse_store_writable') === 0 || undefined
  })
})

t.test('a Redis that may evict keys is warned of in the log and on the status page', async (t) => {
  const { gateway, say } = await onRedis(t, ['--maxmemory-policy', 'allkeys-lru'])
  const warning = await until('it is warned of', () =>
    gateway.logLines.find((line) => line.includes('maxmemory-policy allkeys-lru')),
  )
  t.match(JSON.parse(warning), { level: 'warn', msg: /noeviction/ })
  t.match(await (await fetch(`${gateway.opsUrl}/status`)).text(), 'maxmemory-policy allkeys-lru')
  t.match(await readiness(gateway), { code: 200, status: 'ok' })
  t.equal(await say('CONFIG SET maxmemory-policy noeviction'), '+OK\r\n')
})
