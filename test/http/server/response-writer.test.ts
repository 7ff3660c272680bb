import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import type { ResponseFraming } from '#http/client-exchange.ts'
import type { ClientConnection } from '#http/server/client-connection.ts'
import { ClientSocket } from '#http/server/client-socket.ts'
import { keepAliveOf, ResponseWriter } from '#http/server/response-writer.ts'
import { until } from '../../setup/net.ts'
import { connectSocketPair } from '../../setup/socket-pair.ts'
import { listen } from './listen.ts'

const keepAlive = keepAliveOf(5_000)

/** A writer whose response has begun, how much it has written, and the text that has come at the other end. */
async function start(t: Test, framing: ResponseFraming) {
  const { socket, other, received } = await connectSocketPair(t)
  const writer = new ResponseWriter(new ClientSocket(socket), keepAlive)
  writer.begin({ status: 200, reason: 'OK', lines: '', framing }, keepAlive)
  /** What has come after the head. */
  const body = () => received().slice(received().indexOf('\r\n\r\n') + 4)
  return { socket, other, writer, written: () => socket.bytesWritten, body }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

t.test('the parts of a response of one turn are sent together, at its end', async (t) => {
  const { writer, written, body } = await start(t, 'chunked')
  for (const text of ['a', 'bc']) {
    writer.write(Buffer.from(text))
    t.ok(writer.flush())
    t.ok(writer.hasBegun)
  }
  t.equal(written(), 0)
  await nextTurn()
  const first = written()
  t.ok(first > 0)
  writer.write(Buffer.from('d'))
  writer.flush()
  let isWritten = false
  writer.end('', '', () => {
    isWritten = true
  })
  t.equal(written(), first)
  await nextTurn()
  t.equal(written() - first, '1\r\nd\r\n0\r\n\r\n'.length)
  t.ok(isWritten)
  await until('all has come', () => body() === '1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n')
})

t.test('large data follow small data that were put off', async (t) => {
  for (const framing of ['counted', 'chunked'] as const) {
    const { writer, body } = await start(t, framing)
    const large = Buffer.alloc(20_000, 'b')
    writer.write(Buffer.from('a'))
    writer.flush()
    writer.write(large)
    writer.write(Buffer.from('c'))
    writer.flush()
    const expected = ['a', `${large}`, 'c']
      .map((text) => (framing === 'chunked' ? `${text.length.toString(16)}\r\n${text}\r\n` : text))
      .join('')
    await until('all has come', () => body().length >= expected.length)
    t.equal(body(), expected)
  }
})

t.test('what the socket does not want to buffer is written at once, and says so', async (t) => {
  const { socket, other, writer } = await start(t, 'counted')
  other.pause()
  const part = Buffer.alloc(16_384)
  for (let isFlowing = true; isFlowing; ) {
    writer.write(part)
    isFlowing = writer.flush()
    if (isFlowing) await nextTurn()
  }
  t.ok(socket.writableNeedDrain)
  const drained = once(socket, 'drain')
  other.resume()
  await drained
})

t.test('an aborted response keeps its parts, and loses its end', async (t) => {
  function onRequest(connection: ClientConnection, { target }: { readonly target: string }): void {
    connection.respond(200, 'OK', '', 'chunked')
    connection.write(Buffer.from('part'))
    connection.flush()
    if (target === '/ended') connection.end()
    connection.abort()
  }
  const { port } = await listen(t, onRequest, { requestTimeoutMs: 1_000, tls: undefined })
  for (const [target, end] of [
    ['/', '4\r\npart\r\n'],
    ['/ended', ''],
  ] as const) {
    const socket = connect(port, '127.0.0.1').setEncoding('latin1')
    let received = ''
    socket.on('data', (text: string) => {
      received += text
    })
    socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await once(socket, 'close')
    t.equal(received.slice(received.indexOf('\r\n\r\n') + 4), end)
  }
})

t.test('each response has its own status line, whatever the one before had', async (t) => {
  const { socket, received } = await connectSocketPair(t)
  const writer = new ResponseWriter(new ClientSocket(socket), keepAlive)
  const statuses = [
    [200, 'OK'],
    [200, 'OK'],
    [200, 'Fine'],
    [201, 'Fine'],
    [404, ''],
    [200, 'OK'],
  ] as const
  for (const [status, reason] of statuses) {
    writer.begin({ status, reason, lines: '', framing: 'none' }, keepAlive)
    writer.end('', '', () => {})
    await nextTurn()
  }
  await until('all have come', () => received().split('\r\n\r\n').length > statuses.length)
  t.strictSame(
    received().match(/^HTTP.*(?=\r)/gm),
    statuses.map(([status, reason]) => `HTTP/1.1 ${status} ${reason}`),
  )
})
