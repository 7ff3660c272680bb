import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, createServer, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { sharedBuffer } from '#http/read-memory.ts'
import { ClientSocket } from '#http/server/client-socket.ts'
import { acceptHandles, type SocketHandle } from '#http/socket-handle.ts'
import { portOf, until } from '../../setup/net.ts'

/** A client, and its connection here, of which only the handle exists. `events` has what was read, and what happened. */
async function openPair(t: Test) {
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const handles: SocketHandle[] = []
  t.ok(acceptHandles(server, 30_000, (handle) => void handles.push(handle)))
  const client = connect({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true }).on(
    'error',
    () => {},
  )
  t.teardown(() => client.destroy())
  const received: string[] = []
  client.setEncoding('latin1').on('data', (text: string) => received.push(text))
  const socket = new ClientSocket(await until('it is accepted', () => handles[0]))
  t.teardown(() => socket.destroy())
  const events: string[] = []
  const flow = { continues: true }
  socket.open({
    onDrain: () => void events.push('drain'),
    onEnd: () => void events.push('end'),
    onClose: () => void events.push('close'),
  })
  socket.startReading((length) => {
    events.push(sharedBuffer.toString('latin1', 0, length))
    return flow.continues
  })
  return { client, socket, events, received: () => received.join(''), flow }
}

type Pair = Awaited<ReturnType<typeof openPair>>

/** Resolves once these events, and no others, have happened. */
async function untilEvents({ events }: Pair, ...expected: readonly string[]): Promise<void> {
  await until(expected.join(), () => events.join() === expected.join())
}

const never = () => {}

/** Writes until the system accepts no more. @returns how many bytes were written */
function fill(socket: ClientSocket, onWritten: () => void): number {
  const text = 'x'.repeat(16_384)
  let bytes = text.length
  while (socket.writeDirectly(text, onWritten) === true) bytes += text.length
  return bytes
}

t.test('a request, its response and the ends of both sides need no stream', async (t) => {
  const pair = await openPair(t)
  const { client, socket, received } = pair
  t.match(socket, { remoteAddress: '127.0.0.1', isEncrypted: false, destroyed: false, writableLength: 0 })
  client.write('question')
  await untilEvents(pair, 'question')
  t.equal(socket.writeDirectly('caf\xe9', never), true)
  client.end()
  await untilEvents(pair, 'question', 'end')
  t.notOk(socket.destroyed, 'it may still be answered')
  t.equal(socket.writeDirectly('!', never), true)
  socket.end()
  await untilEvents(pair, 'question', 'end', 'close')
  await until('the client has all', () => client.readableEnded)
  t.equal(received(), 'caf\xe9!')
  t.equal(socket.source, socket, 'no stream was made')
  t.ok(socket.destroyed)
})

t.test('the own side closes first, and the connection with that of the client', async (t) => {
  const pair = await openPair(t)
  const { client, socket, received } = pair
  socket.writeDirectly('last', never)
  socket.end()
  socket.end()
  t.equal(socket.writeDirectly('more', never), undefined)
  await until('the client has all', () => client.readableEnded)
  t.equal(received(), 'last')
  client.end('late')
  await untilEvents(pair, 'late', 'end', 'close')
  t.equal(socket.source, socket, 'no stream was made')
})

t.test('both sides close at once, once everything was passed to the system', async (t) => {
  const pair = await openPair(t)
  const { client, socket, received } = pair
  t.equal(socket.writeDirectly('last', never), true)
  t.ok(socket.close())
  t.notOk(socket.close(), 'it is closed')
  await untilEvents(pair, 'close')
  await until('the client has all', () => client.readableEnded)
  t.equal(received(), 'last')
})

t.test('what the system has yet to accept is sent before the end', async (t) => {
  for (const hasClientEnded of [false, true]) {
    const pair = await openPair(t)
    const { client, socket, received } = pair
    client.pause()
    let isWritten = false
    const bytes = fill(socket, () => {
      isWritten = true
    })
    t.notOk(socket.close(), 'not at once')
    if (hasClientEnded) client.end()
    if (hasClientEnded) await untilEvents(pair, 'end')
    socket.end()
    client.resume()
    await until('the client has all', () => client.readableEnded)
    t.equal(received().length, bytes)
    t.ok(isWritten)
    client.end()
    await untilEvents(pair, 'end', 'close')
  }
})

t.test('reading stops when it is told to, and continues', async (t) => {
  const pair = await openPair(t)
  const { client, socket, flow } = pair
  flow.continues = false
  client.write('one')
  await untilEvents(pair, 'one')
  client.end('two')
  await until('it was sent', () => client.bytesWritten === 6 && client.writableFinished)
  await untilEvents(pair, 'one')
  socket._read()
  await untilEvents(pair, 'one', 'two')
  socket._read()
  await untilEvents(pair, 'one', 'two', 'end')
})

t.test('a client that resets the connection closes it', async (t) => {
  const pair = await openPair(t)
  pair.client.resetAndDestroy()
  await untilEvents(pair, 'close')
  t.equal(pair.socket.writeDirectly('x', never), undefined)
  pair.socket.destroy()
  await untilEvents(pair, 'close')
})

t.test('a failed write closes it', async (t) => {
  const pair = await openPair(t)
  const { client, socket } = pair
  client.pause()
  fill(socket, () => t.fail('it was not written'))
  client.resetAndDestroy()
  await untilEvents(pair, 'close')
})

t.test('a stream that is made in between reads and writes on', async (t) => {
  const pair = await openPair(t)
  const { client, socket, received } = pair
  client.write('one')
  await untilEvents(pair, 'one')
  socket.writeDirectly('two', never)
  const { stream } = socket
  t.equal(socket.source, stream)
  t.equal(socket.stream, stream)
  t.equal(stream.remoteAddress, '127.0.0.1')
  stream.write(' three')
  await until('it has come', () => received() === 'two three')
  t.equal(socket.writeDirectly(' four', never), true)
  client.write('five')
  await untilEvents(pair, 'one', 'five')
  t.notOk(socket.close(), 'a stream ends by itself')
  client.pause()
  while (!stream.writableNeedDrain) stream.write(Buffer.alloc(1_048_576))
  t.ok(socket.writableLength > socket.writableHighWaterMark)
  client.resume()
  await untilEvents(pair, 'one', 'five', 'drain')
  client.end()
  await untilEvents(pair, 'one', 'five', 'drain', 'end')
  socket.end()
  await untilEvents(pair, 'one', 'five', 'drain', 'end', 'close')
})

t.test('a stream that is made after the client has closed its side learns of it', async (t) => {
  const pair = await openPair(t)
  const { client, socket, received } = pair
  client.end('one')
  await untilEvents(pair, 'one', 'end')
  const stream = socket.release()
  await once(stream, 'end')
  stream.end('two')
  await once(stream, 'close')
  await until('the client has all', () => client.readableEnded)
  t.equal(received(), 'two')
  await untilEvents(pair, 'one', 'end', 'close')
})

t.test('a stream that is made while its side closes completes that', async (t) => {
  const pair = await openPair(t)
  const { client, socket } = pair
  socket.end()
  const { stream } = socket
  t.notOk(stream.destroyed)
  await until('the client learns of it', () => client.readableEnded)
  client.end()
  await untilEvents(pair, 'end', 'close')
})

t.test('a stream that is made while its side closes sends what the system has yet to accept', async (t) => {
  const pair = await openPair(t)
  const { client, socket, received } = pair
  client.pause()
  const bytes = fill(socket, never)
  client.end()
  await untilEvents(pair, 'end')
  socket.end()
  t.notOk(socket.stream.destroyed)
  client.resume()
  await until('the client has all', () => client.readableEnded)
  t.equal(received().length, bytes)
  await untilEvents(pair, 'end', 'close')
})

t.test('a stream that was released reports only its close', async (t) => {
  const pair = await openPair(t)
  const stream = pair.socket.release()
  pair.client.end()
  await once(stream, 'end')
  stream.end()
  await untilEvents(pair, 'close')
})

t.test('the stream of a closed connection is destroyed', async (t) => {
  const pair = await openPair(t)
  pair.socket.destroy()
  t.ok(pair.socket.stream.destroyed)
  await untilEvents(pair, 'close')
})

t.test('a stream of the server is used as it is', async (t) => {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = connect(portOf(server), '127.0.0.1').resume()
  t.teardown(() => client.destroy())
  const [stream] = (await once(server, 'connection')) as [Socket]
  const socket = new ClientSocket(stream)
  t.equal(socket.source, stream)
  t.equal(socket.stream, stream)
  t.equal(socket.remoteAddress, '127.0.0.1')
  const closed = new Promise<void>((resolve) =>
    socket.open({ onDrain: never, onEnd: () => socket.end(), onClose: resolve }),
  )
  socket._read()
  stream.resume()
  client.end()
  await closed
  t.ok(socket.destroyed)
})

t.test('handles are only taken from a server that listens and has them', async (t) => {
  t.notOk(acceptHandles(createServer(), 30_000, never))
  t.notOk(acceptHandles(new Socket() as never, 30_000, never))
})

/** A port as /proc/net/tcp writes it. */
const hexPort = (port: number | undefined) => port?.toString(16).toUpperCase().padStart(4, '0')

t.test(
  'a client that says nothing is probed',
  { skip: process.platform !== 'linux' && 'only Linux shows the timers of sockets' },
  async (t) => {
    const { client } = await openPair(t)
    const [here, there] = [hexPort(client.remotePort), hexPort(client.localPort)]
    const [, timer] =
      new RegExp(`:${here} [0-9A-F]+:${there} 01 \\S+ (\\d+):`).exec(
        readFileSync('/proc/net/tcp', 'latin1'),
      ) ?? []
    t.equal(timer, '02', 'the timer of keep-alive is active')
  },
)
