import t from 'tap'
import { startGateway } from '../../../setup/gateway.ts'
import { ask, connectHttp2 } from '../ask.ts'

t.test(
  'a call whose head cannot be read gets a status of gRPC, and other requests one of HTTP',
  async (t) => {
    const gateway = await startGateway(t, { config: { limits: { headers: '16KiB' } } })
    const session = await connectHttp2(t, gateway.url)
    const call = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }
    for (const [fields, httpStatus, grpcStatus, code] of [
      [{ 'x-large': 'x'.repeat(18_000) }, 431, '8', 'headers-too-large'],
      [{ ':authority': 'one', host: 'other' }, 400, '3', 'request-invalid'],
    ] as const) {
      const { status, headers, body } = await ask(session, '/x', { headers: { ...call, ...fields } })
      t.equal(status, 200)
      t.match(headers, {
        'content-type': 'application/grpc',
        'grpc-status': grpcStatus,
        'grpc-message': code,
        'x-request-id': /^[0-9a-f-]{36}$/,
      })
      t.equal(body, '')
      for (const other of [{ ':method': 'GET' }, { 'content-type': 'application/grpc-web' }]) {
        const answer = await ask(session, '/x', { headers: { ...call, ...fields, ...other } })
        t.equal(answer.status, httpStatus)
      }
    }
  },
)
