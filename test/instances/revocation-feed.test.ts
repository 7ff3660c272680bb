// slow: stops Redis and gateways, and waits for silence
import t, { type Test } from 'tap'
import {
  codeOf,
  feedConfig,
  followingVerifier,
  revocationsPath,
  untilCode,
} from '../library/verify/following.ts'
import { serveFleet } from '../runtime/fleet/fleet.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { startRedis } from '../setup/redis.ts'
import { standStill } from '../setup/stand-still.ts'

/** Two gateways on one Redis, the second with a clock that is ahead; a verifier follows the first. */
async function start(t: Test, aheadMs = 0) {
  const redis = await startRedis(t)
  const backend = await startBackend(t)
  const port = await freePort()
  const config = { ...feedConfig, listen: { port } }
  const shared = { backend: backend.url, driver: 'redis', redis } as const
  const startFirst = () => startGateway(t, { ...shared, config })
  const first = await startFirst()
  const second = await startGateway(t, {
    ...shared,
    config: feedConfig,
    clock: () => Date.now() + aheadMs,
  })
  const { secretKey } = await first.createAccount({ role: 'Admin', email: 'reader@example.com' })
  const states: string[] = []
  const verifier = followingVerifier(t, first, {
    revocations: {
      url: first.url + revocationsPath,
      headers: { SecretKey: secretKey },
      onState: (state) => states.push(state),
    },
  })
  const created = await second.createAccount()

  async function assertionOf({ url }: TestGateway): Promise<string> {
    const headers = { SecretKey: created.secretKey }
    await until('it is answered', async () => (await fetch(`${url}/any`, { headers })).status === 200)
    return String(backend.last().headers['x-gatehouse-assertion'])
  }

  return { redis, first, startFirst, second, verifier, created, states, assertionOf }
}

for (const aheadMs of [0, 4_000, -4_000]) {
  t.test(
    `what one instance revokes, a reader of the other refuses: clocks ${aheadMs} ms apart`,
    async (t) => {
      const { second, verifier, created, assertionOf } = await start(t, aheadMs)
      const before = await assertionOf(second)
      await untilCode(verifier, before, 'verified')
      await second.operate(({ accounts }) => accounts.update(created.account.id, { role: 'Editor' }))
      t.ok((await untilCode(verifier, before, 'revoked')) < 1_000)
      const begunAt = performance.now()
      await until('the next one counts', async () => {
        return (await codeOf(verifier.verify(await assertionOf(second)))) === 'verified'
      })
      t.ok(performance.now() - begunAt < 1_000)
    },
  )
}

t.test('without the store nothing is known, and all that was revoked is once it is back', async (t) => {
  const { redis, second, verifier, created, states, assertionOf } = await start(t)
  const before = await assertionOf(second)
  await untilCode(verifier, before, 'verified')
  redis.signal('SIGSTOP')
  t.ok((await untilCode(verifier, before, 'revocations-unknown')) < 4_000)
  redis.signal('SIGCONT')
  await untilCode(verifier, before, 'verified')
  await second.operate(({ accounts }) => accounts.update(created.account.id, { role: 'Editor' }))
  await untilCode(verifier, before, 'revoked')
  t.strictSame(states, ['current', 'unknown', 'current'])
})

t.test('a gateway that starts again tells what was revoked while it was down', async (t) => {
  const { first, startFirst, second, verifier, created, assertionOf } = await start(t)
  const before = await assertionOf(second)
  await untilCode(verifier, before, 'verified')
  await first.shutDown()
  await second.operate(({ accounts }) => accounts.update(created.account.id, { role: 'Editor' }))
  await untilCode(verifier, before, 'revocations-unknown')
  await startFirst()
  await untilCode(verifier, before, 'revoked')
  await untilCode(verifier, await assertionOf(second), 'verified')
})

t.test(
  'a gateway that is suspended vouches for nothing, and a backend that was trusts nothing old',
  async (t) => {
    const backend = await startBackend(t)
    const gateway = await serveFleet(t, {
      backend: backend.url,
      workers: 1,
      config: { ...feedConfig, routes: [{ name: 'any', path: '/', upstream: 'backend', auth: 'any' }] },
    })
    t.teardown(() => gateway.child.kill('SIGCONT'))
    const create = async (email: string, role: string) => {
      const { stdout } = await gateway.run('accounts', 'create', '--email', email, '--role', role, '--json')
      return JSON.parse(stdout) as { readonly id: string; readonly secretKey: string }
    }
    const [reader, caller] = [
      await create('reader@example.com', 'Admin'),
      await create('a@example.com', 'User'),
    ]
    const verifier = followingVerifier(t, gateway, {
      revocations: { url: gateway.url + revocationsPath, headers: { SecretKey: reader.secretKey } },
    })
    t.equal((await fetch(`${gateway.url}/any`, { headers: { SecretKey: caller.secretKey } })).status, 200)
    const assertion = String(backend.last().headers['x-gatehouse-assertion'])
    await untilCode(verifier, assertion, 'verified')
    standStill(3_000)
    t.equal(await codeOf(verifier.verify(assertion)), 'verified', 'once it has read what came meanwhile')
    process.kill(gateway.pid, 'SIGSTOP')
    await gateway.run('accounts', 'update', caller.id, '--role', 'Editor')
    standStill(1_500)
    t.equal(await codeOf(verifier.verify(assertion)), 'revocations-unknown')
    process.kill(gateway.pid, 'SIGCONT')
    await untilCode(verifier, assertion, 'revoked')
  },
)
