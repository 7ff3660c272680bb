import t, { type Test } from 'tap'
import { signingKeyIdOf } from '#identity/tokens/jwt.ts'
import { addKey } from '../gateway/support/further-keys.ts'
import { openWebSocket, record, startWebSocketBackend } from '../gateway/support/web-socket.ts'
import { until } from '../setup/net.ts'
import { startPromise } from '../setup/promise-of-time.ts'
import { startInstances } from './instances.ts'

const backend = await startWebSocketBackend(t)
const { gateways } = await startInstances(t, {
  backend: backend.url,
  config: { routes: [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'any', websocket: true }] },
})
const [first] = gateways
let created = 0

/** A WebSocket at each instance. */
function openAll(t: Test, headers: Readonly<Record<string, string>>) {
  return Promise.all(
    gateways.map(async ({ url }) => {
      const socket = await openWebSocket(t, `${url}/ws`, { headers })
      return { socket, received: record(socket) }
    }),
  )
}

/** A caller with a WebSocket by key and one by token at each instance. */
async function openWebSockets(t: Test) {
  created++
  const made = await first.createAccount({ email: `caller${created}@example.com` })
  const tokens = await first.tokens(made)
  const byKey = await openAll(t, { SecretKey: made.secretKey })
  const byToken = await openAll(t, { Authorization: `Bearer ${tokens.JwtToken}` })
  return { made, tokens, byKey, byToken }
}

type Opened = Awaited<ReturnType<typeof openWebSockets>>['byKey']

async function assertClosed(t: Test, opened: Opened): Promise<void> {
  const assertInTime = startPromise(t)
  await until('it is closed at every instance', () =>
    opened.every(({ received }) => received.closes.length > 0),
  )
  assertInTime()
  for (const { received } of opened) t.match(received.closes, [{ code: 4001, reason: 'revoked' }])
}

/** That they are open is seen by an echo, which came after whatever else was sent. */
async function assertOpen(t: Test, opened: Opened): Promise<void> {
  for (const { socket, received } of opened) {
    const before = received.messages.length
    socket.send('there?')
    await until('the echo has come', () => received.messages.length > before || received.closes.length > 0)
    t.strictSame(received.closes, [])
  }
}

t.test('a key reset closes WebSockets of the key and its tokens on every instance', async (t) => {
  const { made, byKey, byToken } = await openWebSockets(t)
  const bystander = await openWebSockets(t)
  await first.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(made.account.id, 0))
  await assertClosed(t, [...byKey, ...byToken])
  await assertOpen(t, [...bystander.byKey, ...bystander.byToken])
})

t.test('a key reset with overlap closes no WebSocket until the overlap ends', async (t) => {
  const { made, byKey, byToken } = await openWebSockets(t)
  await first.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(made.account.id, 1))
  await assertOpen(t, [...byKey, ...byToken])
  await until('the overlap is over', () => byKey.every(({ received }) => received.closes.length > 0))
  for (const { received } of byKey) t.match(received.closes, [{ code: 4001 }])
  await assertOpen(t, byToken)
})

t.test('revoking one key closes WebSockets of that key and its tokens, and of no other', async (t) => {
  const { made, byKey, byToken } = await openWebSockets(t)
  const { id } = made.account
  const key = await addKey(first, id, { name: 'ci' })
  const tokens = await first.tokens({ ...made, secretKey: key })
  const ofKey = await openAll(t, { SecretKey: key })
  const ofToken = await openAll(t, { Authorization: `Bearer ${tokens.JwtToken}` })
  await first.operate(({ secretKeys }) => secretKeys.revoke(id, 'ci', 0))
  await assertClosed(t, [...ofKey, ...ofToken])
  await assertOpen(t, [...byKey, ...byToken])
  await first.operate(({ secretKeys }) => secretKeys.revoke(id, 'default', 0))
  await assertClosed(t, [...byKey, ...byToken])
})

t.test('a role change, disabling and deletion close all WebSockets of an account', async (t) => {
  for (const end of ['role', 'disable', 'delete'] as const) {
    const { made, byKey, byToken } = await openWebSockets(t)
    await first.operate(({ accounts }) => {
      if (end === 'delete') return accounts.remove(made.account.id)
      return accounts.update(made.account.id, end === 'role' ? { role: 'Admin' } : { isDisabled: true })
    })
    await assertClosed(t, [...byKey, ...byToken])
  }
})

t.test('a role changed there and back closes WebSockets of tokens', async (t) => {
  const { made, byToken } = await openWebSockets(t)
  await first.operate(async ({ accounts }) => {
    await accounts.update(made.account.id, { role: 'Admin' })
    await accounts.update(made.account.id, { role: 'User' })
  })
  await assertClosed(t, byToken)
})

t.test('the end of a session closes only WebSockets of its tokens', async (t) => {
  const { tokens, byKey, byToken } = await openWebSockets(t)
  const answer = await first.post('/api/v1/accounts/revoke-token', { token: tokens.RefreshToken })
  t.equal(answer.status, 200)
  await assertClosed(t, byToken)
  await assertOpen(t, byKey)
})

t.test('neither a refresh nor a changed name closes a WebSocket', async (t) => {
  const { made, tokens, byKey, byToken } = await openWebSockets(t)
  const answer = await first.post('/api/v1/accounts/refresh-token', { token: tokens.RefreshToken })
  t.equal(answer.status, 200)
  await first.operate(({ accounts }) => accounts.update(made.account.id, { firstName: 'Eve' }))
  await assertOpen(t, [...byKey, ...byToken])
})

t.test('a retired signing key closes only WebSockets of its tokens', async (t) => {
  const { byKey, byToken } = await openWebSockets(t)
  const [old] = await first.operate(({ signingKeys }) => signingKeys.load())
  await first.operate(({ signingKeys }) => signingKeys.rotate('now'))
  await assertOpen(t, byToken)
  await until('the new key signs', async () => {
    const { JwtToken } = await first.tokens(
      await first.createAccount({ email: `key${++created}@example.com` }),
    )
    return signingKeyIdOf(JwtToken) !== old?.kid || undefined
  })
  const later = await openWebSockets(t)
  await first.operate(({ signingKeys }) => signingKeys.retire(old?.kid ?? ''))
  await assertClosed(t, byToken)
  await assertOpen(t, [...byKey, ...later.byKey, ...later.byToken])
})
