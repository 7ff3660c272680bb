import t from 'tap'
import { startServer } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { bodyOf, postBlock, resetOf } from './flow.ts'
import { endHeaders, endStream, frame, openRawSession } from './frames.ts'

t.test(
  'a call whose response has a length is reset if it breaks off, without trailers in its body',
  async (t) => {
    const backend = await startServer(t, (_request, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('ten bytes.', () => response.destroy())
    })
    const routes = [{ name: 'public', path: '/', upstream: 'backend', auth: 'none' }]
    const gateway = await startGateway(t, { backend, config: { routes } })
    const session = await openRawSession(t, gateway.url)
    const block = postBlock('/a.Service/Call', [['content-type', 'application/grpc']])
    session.socket.write(frame('headers', endHeaders | endStream, 1, block))
    await until('it is reset', () => resetOf(session, 1) !== undefined)
    t.equal(bodyOf(session, 1).toString(), 'ten bytes.')
    t.notOk(session.ended.includes(1), 'it does not look complete')
  },
)
