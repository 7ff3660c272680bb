import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import t from 'tap'
import { startRawBackend } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { get } from './flow.ts'
import { frameTypes, openRawSession } from './frames.ts'

const bytesMax = 64 * 1_048_576
/** Each differs from the others, so that compression makes none of them small. */
const piece = Array.from({ length: 500 }, (_, index) => {
  const link = `</${createHash('sha256').update(String(index)).digest('hex')}>; rel=preload`
  return `HTTP/1.1 103 Early Hints\r\nLink: ${link}\r\n\r\n`
}).join('')

t.test('a backend has to wait with its 1xx for a client of HTTP/2 that reads none', async (t) => {
  let written = 0
  const send = (socket: Socket) => {
    while (written < bytesMax && !socket.destroyed) {
      written += piece.length
      if (!socket.write(piece)) return
    }
    socket.end('HTTP/1.1 204 No Content\r\n\r\n')
  }
  const backend = await startRawBackend(t, (socket) => {
    socket.once('data', () => send(socket)).on('drain', () => send(socket))
  })
  const gateway = await startGateway(t, { backend })
  const session = await openRawSession(t, gateway.url)
  get(session, 1, '/public/x')
  await until('the first have come', () => session.received.has(frameTypes.headers))
  session.socket.pause()
  let before = -1
  await until('the backend has to wait', async () => {
    const isStill = before === written
    before = written
    await new Promise((resolve) => setTimeout(resolve, 300))
    return isStill
  })
  t.ok(written < bytesMax / 2, `${written} bytes were read`)
  session.socket.resume()
  await until('the response has come', () => session.ended[0])
  t.ok(written >= bytesMax)
  t.equal(session.goawayCode(), undefined)
})
