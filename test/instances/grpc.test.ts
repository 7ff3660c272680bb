import t, { type Test } from 'tap'
import { startGrpcBackend } from '../http/h2/grpc/backend.ts'
import type { Called } from '../http/h2/grpc/caller.ts'
import { openJsCaller } from '../http/h2/grpc/js-caller.ts'
import { openChat } from '../http/h2/grpc/open-chat.ts'
import { until } from '../setup/net.ts'
import { startPromise } from '../setup/promise-of-time.ts'
import { startInstances } from './instances.ts'

const backend = await startGrpcBackend(t)
const { gateways } = await startInstances(t, {
  config: {
    upstreams: { shop: { targets: [{ url: backend.url }], protocol: 'http2' } },
    routes: [{ name: 'orders', path: '/shop.Orders', upstream: 'shop', auth: 'any' }],
  },
})
const callers = gateways.map(({ url }) => openJsCaller(t, url))
const [first] = gateways
let created = 0

/** A caller with an open call by key and one by token at each instance. */
async function openCalls() {
  created++
  const made = await first.createAccount({ email: `caller${created}@example.com` })
  const tokens = await first.tokens(made)
  const open = (metadata: Readonly<Record<string, string>>) =>
    Promise.all(callers.map((caller) => openChat(caller, metadata)))
  const byKey = await open({ secretkey: made.secretKey })
  const byToken = await open({ authorization: `Bearer ${tokens.JwtToken}` })
  return { made, tokens, byKey, byToken }
}

/** Called once the change was acknowledged. */
async function assertEnded(t: Test, calls: readonly Called[]): Promise<void> {
  const assertInTime = startPromise(t)
  await until('all are ended at every instance', () => calls.every(({ status }) => status !== undefined))
  assertInTime()
  for (const { status, received } of calls) {
    t.match(status, { code: 16, details: 'revoked' })
    t.strictSame(received, ['echo one'])
  }
}

function assertOpen(t: Test, calls: readonly Called[]): void {
  for (const { status } of calls) t.equal(status, undefined)
}

t.test('a key reset ends calls of the key and its tokens on every instance, and no others', async (t) => {
  const bystander = await openCalls()
  const { made, byKey, byToken } = await openCalls()
  await first.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(made.account.id, 0))
  await assertEnded(t, [...byKey, ...byToken])
  assertOpen(t, [...bystander.byKey, ...bystander.byToken])
})

t.test('a role change, disabling and deletion end all calls of an account on every instance', async (t) => {
  for (const end of ['role', 'disable', 'delete'] as const) {
    const { made, byKey, byToken } = await openCalls()
    const { id } = made.account
    await first.operate(({ accounts }) => {
      if (end === 'delete') return accounts.remove(id)
      return accounts.update(id, end === 'role' ? { role: 'Admin' } : { isDisabled: true })
    })
    await assertEnded(t, [...byKey, ...byToken])
  }
})

t.test('the end of a session ends only calls of its tokens', async (t) => {
  const { tokens, byKey, byToken } = await openCalls()
  const answer = await first.post('/api/v1/accounts/revoke-token', { token: tokens.RefreshToken })
  t.equal(answer.status, 200)
  await assertEnded(t, byToken)
  assertOpen(t, byKey)
})

t.test('a call that its key does not outlive by a message is ended though no change was seen', async (t) => {
  const { made, byKey } = await openCalls()
  await first.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(made.account.id, 1))
  assertOpen(t, byKey)
  await until('the overlap is over', () => byKey.every(({ status }) => status !== undefined))
  for (const { status } of byKey) t.match(status, { code: 16, details: 'revoked' })
})
