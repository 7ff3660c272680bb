import t from 'tap'
import { startGateway } from '../../../setup/gateway.ts'
import { until } from '../../../setup/net.ts'
import { postBlock } from '../flow.ts'
import { startFrameBackend } from '../frame-backend.ts'
import { endHeaders, frame, frameTypes, openRawSession } from '../frames.ts'

/** Calls whose clients send little, and do not end what they send. */

t.test('calls take the connections that are kept from bodies that still arrive', async (t) => {
  const backend = await startFrameBackend(t, {})
  const gateway = await startGateway(t, {
    config: {
      // A quarter of them.
      upstreams: { shop: { targets: [{ url: backend.url }], protocol: 'http2', connections: 4 } },
      routes: [{ name: 'shop', path: '/', upstream: 'shop', auth: 'none' }],
    },
  })
  const heads = () =>
    backend.connections.flatMap(({ frames }) => frames.filter(({ type }) => type === frameTypes.headers))
  const session = await openRawSession(t, gateway.url)
  const open = (id: number, contentType: string) =>
    session.socket.write(frame('headers', endHeaders, id, postBlock('/x', [['content-type', contentType]])))
  for (const id of [1, 3, 5]) open(id, 'text/plain')
  await until('three uploads have connections', () => heads().length === 3)
  open(7, 'text/plain')
  open(9, 'application/grpc')
  await until('the call has the last', () => heads().length === 4)
  const last = heads().at(-1)?.payload.toString('latin1')
  t.match(last, 'application/grpc', 'the upload waits')
})
