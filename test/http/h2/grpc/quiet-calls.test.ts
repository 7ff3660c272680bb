import t from 'tap'
import { startGateway } from '../../../setup/gateway.ts'
import { until } from '../../../setup/net.ts'
import { connectRaw } from '../../../setup/raw-client.ts'
import { postBlock } from '../flow.ts'
import { startFrameBackend } from '../frame-backend.ts'
import { endHeaders, frame, frameTypes, openRawSession } from '../frames.ts'
import { startGrpcBackend } from './backend.ts'
import { openJsCaller } from './js-caller.ts'

/** Calls whose clients send little, and do not end what they send. */

t.test('calls take the connections that are kept from bodies that still arrive', async (t) => {
  const backend = await startFrameBackend(t, {})
  const gateway = await startGateway(t, {
    config: {
      // A quarter of them.
      upstreams: { shop: { targets: [{ url: backend.url }], protocol: 'http2', connections: 4 } },
      routes: [
        { name: 'shop', path: '/shop', upstream: 'shop', auth: 'any' },
        { name: 'public', path: '/public', upstream: 'shop', auth: 'none' },
      ],
    },
  })
  const { secretKey } = await gateway.createAccount()
  const heads = () =>
    backend.connections.flatMap(({ frames }) => frames.filter(({ type }) => type === frameTypes.headers))
  const session = await openRawSession(t, gateway.url)
  const open = (id: number, path: string, type: string, ...more: [string, string][]) =>
    session.socket.write(frame('headers', endHeaders, id, postBlock(path, [['content-type', type], ...more])))
  for (const id of [1, 3, 5]) open(id, '/public', 'text/plain')
  await until('three uploads have connections', () => heads().length === 3)
  open(7, '/public', 'text/plain')
  open(9, '/public', 'application/grpc')
  open(11, '/shop', 'application/grpc', ['secretkey', secretKey])
  await until('one more has the last', () => heads().length === 4)
  const last = heads().at(-1)?.payload.toString('latin1')
  t.match(last, '/shop', 'the upload waits, and so does a call of nobody')
})

t.test('a call may send nothing for longer than an upload may by limits.bodyRate', async (t) => {
  const backend = await startGrpcBackend(t)
  const gateway = await startGateway(t, {
    config: {
      upstreams: { shop: { targets: [{ url: backend.url }], protocol: 'http2' } },
      routes: [{ name: 'shop', path: '/', upstream: 'shop', auth: 'any' }],
    },
  })
  const { secretKey: secretkey } = await gateway.createAccount()
  const metadata = { secretkey }
  const { call } = openJsCaller(t, gateway.url)
  const upload = call({
    path: '/shop.Orders/upload',
    kind: 'upload',
    messages: ['x'],
    metadata,
    staysOpen: true,
  })
  await until('it is at the backend', () => backend.seen.length === 1)
  const later = await connectRaw(t, gateway.url)
  const fields = ['Host: x', 'Content-Type: application/json', 'Content-Length: 99']
  later.send(`POST /api/v1/accounts/access-token HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n{`)
  t.equal((await later.response()).status, 408, 'an upload that began later is refused')
  const unary = call({ path: '/shop.Orders/unary', kind: 'unary', messages: ['x'], metadata })
  t.match(await unary.ended, { code: 0 })
  t.equal(upload.status, undefined)
})
