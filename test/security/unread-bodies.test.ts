import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { headOf, startProxy } from '../gateway/forward/proxies.ts'
import { answerOf } from '../http/outgoing/backends.ts'
import { startRawBackend } from '../setup/backend.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'

const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'
const headEnd = '\r\n\r\n'
const counted = `Content-Length: ${hidden.length}`
const chunkedBody = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`

interface Head {
  readonly method: string
  readonly path: string
  /** Which connection it came on, counted from 0. */
  readonly connection: number
  /** Whether it says that no request follows. */
  readonly isLast: boolean
}

/** A backend that reads no bodies, so that what follows a head is a request to it, unless it is told that none follows. */
async function start(t: Test) {
  const heads: Head[] = []
  const sockets: Socket[] = []
  const url = await startRawBackend(t, (socket) => {
    const connection = sockets.push(socket) - 1
    let received = ''
    let isOver = false
    socket.on('data', (data) => {
      received += data.toString('latin1')
      for (let end = received.indexOf(headEnd); end !== -1 && !isOver; end = received.indexOf(headEnd)) {
        const text = received.slice(0, end)
        received = received.slice(end + headEnd.length)
        const [method = '', path = ''] = text.split(' ')
        isOver = /^connection: close$/im.test(text)
        heads.push({ method, path, connection, isLast: isOver })
        socket.write(method === 'HEAD' ? 'HTTP/1.1 204 No Content\r\n\r\n' : answerOf(path))
      }
    })
  })
  const gateway = await startProxy(t, url)
  return { heads, sockets, client: await connectRaw(t, gateway.url) }
}

for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
  for (const [framing, body] of [
    [counted, hidden],
    ['Transfer-Encoding: chunked', chunkedBody],
  ] as const) {
    t.test(`the body of a ${method} (${framing}) is never the backend's next request`, async (t) => {
      const { heads, sockets, client } = await start(t)
      client.send(headOf(`${method} /body HTTP/1.1`, framing) + body)
      t.ok((await client.response(method === 'HEAD')).status < 300)
      client.send(headOf('GET /next HTTP/1.1'))
      t.equal((await client.response()).body, '/next')
      t.strictSame(
        heads.map(({ path, connection }) => `${path} ${connection}`),
        ['/body 0', '/next 1'],
      )
      await until('its connection is closed', () => sockets[0]?.closed || undefined)
    })
  }
}

t.test('of requests with the same fields only those whose method has no body are last', async (t) => {
  const { heads, client } = await start(t)
  for (const method of ['PUT', 'PUT', 'PUT', 'GET', 'PUT', 'GET']) {
    client.send(`${headOf(`${method} /same HTTP/1.1`, 'Content-Length: 1')}x`)
    t.equal((await client.response()).status, 200)
  }
  t.strictSame(
    heads.map(({ isLast }) => isLast),
    [false, false, false, true, false, true],
  )
})

t.test('a request without a body, or with one that its method has, keeps its connection', async (t) => {
  const { sockets, client } = await start(t)
  for (const [request, ...lines] of [
    ['GET /a'],
    ['GET /b', 'Content-Length: 0'],
    ['OPTIONS /c'],
    ['DELETE /d'],
    ['POST /e', 'Content-Length: 0'],
  ] as const) {
    client.send(headOf(`${request} HTTP/1.1`, ...lines))
    t.equal((await client.response()).status, 200)
  }
  t.equal(sockets.length, 1)
})
