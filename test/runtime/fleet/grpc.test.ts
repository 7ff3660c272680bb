import t from 'tap'
import { startGrpcBackend } from '../../http/h2/grpc/backend.ts'
import { openJsCaller } from '../../http/h2/grpc/js-caller.ts'
import { openChat } from '../../http/h2/grpc/open-chat.ts'
import { until } from '../../setup/net.ts'
import { atOnce, serveFleet } from './fleet.ts'

interface Keys {
  readonly id: string
  readonly secretKey: string
}

t.test('a key reset and a deletion end open calls of gRPC in every worker', async (t) => {
  const backend = await startGrpcBackend(t)
  const fleet = await serveFleet(t, {
    config: {
      upstreams: { shop: { targets: [{ url: backend.url }], protocol: 'http2' } },
      routes: [{ name: 'orders', path: '/shop.Orders', upstream: 'shop', auth: 'any' }],
    },
  })
  for (const end of [
    ['keys', 'reset-secret'],
    ['accounts', 'delete'],
  ] as const) {
    const email = `${end[1]}@example.com`
    const made = (await fleet.run('accounts', 'create', '--email', email, '--json')).json() as Keys
    const metadata = { secretkey: made.secretKey }
    // The kernel chooses the worker of each connection.
    const calls = await atOnce(() => openChat(openJsCaller(t, fleet.url), metadata))
    await fleet.run(...end, made.id)
    await until('all are ended', () => calls.every(({ status }) => status !== undefined))
    for (const { status } of calls) t.match(status, { code: 16, details: 'revoked' })
  }
  await until('the log says it', () => fleet.answering().size > 0)
  t.equal(fleet.answering().size, 2, 'both workers had some')
})
