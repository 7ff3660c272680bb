import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { PendingBody } from '#gateway/forward/pending-body.ts'
import { ownedCopy, receivedChunk, sharedBuffer, smallChunkBytesMax } from '#http/read-memory.ts'
import type { ClientConnection } from '#http/server/client-connection.ts'
import { readIntoSharedBuffer } from '#http/socket-handle.ts'
import { DirectSocketReader } from '#http/socket-reader.ts'
import { portOf, until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { answerWith, listen } from './listen.ts'

/** Answers with the target and the body, of which it keeps the pieces until then; to `/wait` once the test says so. */
async function listenAndKeep(t: Test) {
  const waiting: (() => void)[] = []
  function onRequest(connection: ClientConnection, { target }: { readonly target: string }): void {
    const body = new PendingBody()
    const answer = () => answerWith(connection, `${target} ${Buffer.concat(body.chunks).toString('latin1')}`)
    connection.attach({
      onBodyData: (chunk) => body.add(chunk),
      isChunkReleased: () => false,
      onBodyEnd: answer,
      onBodyError: () => connection.abort(),
      onClientDrain: () => {},
      onAbort: () => {},
    })
    if (target === '/wait') waiting.push(answer)
    else if (connection.bodyState === 'complete') answer()
    else connection.resumeBody()
  }
  const { port, connections } = await listen(t, onRequest, { requestTimeoutMs: 30_000, tls: undefined })
  return { url: `http://127.0.0.1:${port}`, connections, waiting }
}

/** Hands on the sockets that it accepts. @returns its port */
async function accept(t: Test, onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer(onSocket).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return portOf(server)
}

type Listening = Awaited<ReturnType<typeof listenAndKeep>>

/** A client, and what sends a piece of it and has another connection overwrite what it was read into. */
async function openPair(t: Test, { url, connections }: Listening) {
  const [client, other] = [await connectRaw(t, url), await connectRaw(t, url)]
  await until('both are there', () => connections.size === 2)
  // The last comes first.
  const [, first] = connections
  let sent = 0
  async function sendPiece(piece: string): Promise<void> {
    client.send(piece)
    sent += piece.length
    await until('it was read', () => first?.socket.bytesRead === sent)
    other.send(`GET /${'~'.repeat(12_000)} HTTP/1.1\r\n\r\n`)
    await other.response()
  }
  return { client, sendPiece }
}

t.test('accepted sockets read into the shared buffer', async (t) => {
  const received: string[] = []
  const port = await accept(t, (socket) => {
    const isPossible = readIntoSharedBuffer(socket, (length) => {
      received.push(sharedBuffer.toString('latin1', 0, length))
      return true
    })
    t.ok(isPossible, 'this Node keeps the option onread where it is looked for')
    socket.resume()
  })
  const client = connect(port, '127.0.0.1')
  client.resume().end('hello')
  await until('it has come', () => received.join('') === 'hello')
  await until('it is over', () => client.closed)
})

t.test('sockets read without the shared buffer where Node lacks the option', async (t) => {
  t.notOk(readIntoSharedBuffer({} as Socket, () => true))
  t.notOk(readIntoSharedBuffer({ _handle: {} } as unknown as Socket, () => true))
  t.notOk(
    readIntoSharedBuffer(
      { _handle: { useUserBuffer() {} }, encrypted: true } as unknown as Socket,
      () => true,
    ),
  )
})

t.test('long and retained data is in buffers of its own', async (t) => {
  t.equal(receivedChunk(smallChunkBytesMax).buffer, sharedBuffer.buffer)
  t.not(receivedChunk(smallChunkBytesMax + 1).buffer, sharedBuffer.buffer)
  t.not(receivedChunk(sharedBuffer.length).buffer, sharedBuffer.buffer)
  sharedBuffer.write('before')
  const [lent, copy, own] = [
    receivedChunk(6),
    receivedChunk(smallChunkBytesMax + 1),
    ownedCopy(receivedChunk(6)),
  ]
  sharedBuffer.write('behind')
  t.same(
    [lent, copy, own].map((bytes) => bytes.toString('latin1', 0, 6)),
    ['behind', 'before', 'before'],
  )
  t.equal(ownedCopy(copy), copy, 'which is not copied again')
})

t.test('a head in pieces stays intact while others are read', async (t) => {
  const { client, sendPiece } = await openPair(t, await listenAndKeep(t))
  for (const piece of ['POS', 'T /one HT', 'TP/1.1\r\nContent-', 'Length: 3\r', '\n\r', '\nab', 'c'])
    await sendPiece(piece)
  t.equal((await client.response()).body, '/one abc')
})

t.test('retained body pieces stay intact while others are read', async (t) => {
  const { client, sendPiece } = await openPair(t, await listenAndKeep(t))
  await sendPiece('POST /two HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc')
  for (const piece of ['def', 'ghi']) await sendPiece(piece)
  t.equal((await client.response()).body, '/two abcdefghi')
  await sendPiece('POST /three HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2')
  for (const piece of ['\r\nde\r', '\n0\r\n', '\r\n']) await sendPiece(piece)
  t.equal((await client.response()).body, '/three abcde')
})

t.test('pipelined bytes stay intact while others are read', async (t) => {
  const listening = await listenAndKeep(t)
  const { client, sendPiece } = await openPair(t, listening)
  await sendPiece('GET /wait HTTP/1.1\r\n\r\nPOST /four HTTP/1.1\r\nContent-Length: 4\r\n\r\nab')
  await sendPiece('cd')
  await sendPiece('GET /five HTTP/1.1\r\n')
  for (const answer of listening.waiting) answer()
  t.equal((await client.response()).body, '/wait ')
  t.equal((await client.response()).body, '/four abcd')
  await sendPiece('\r\n')
  t.equal((await client.response()).body, '/five ')
})

t.test('a detached socket is a stream again, with its own data', async (t) => {
  const early: string[] = []
  const late: Buffer[] = []
  const sockets: Socket[] = []
  const port = await accept(t, (socket) => {
    sockets.push(socket)
    const reader = new DirectSocketReader(socket, (chunk) => {
      early.push(String(chunk))
      reader.release()
      socket.on('data', (data: Buffer) => late.push(data))
      return false
    })
  })
  const client = connect(port, '127.0.0.1').resume()
  client.write('one')
  await until('it was handed on', () => early.length === 1)
  for (const [index, piece] of ['two', 'thr'].entries()) {
    client.write(piece)
    await until('it has come', () => late.length === index + 1)
  }
  t.same(late.map(String), ['two', 'thr'])
  const [socket] = sockets
  socket?.pause()
  client.end('x'.repeat(3_000_000))
  connect(port, '127.0.0.1').resume().end()
  await until('others are served meanwhile', () => sockets.length === 2)
  t.equal(late.length, 2)
  socket?.resume()
  await until('all has come', () => socket?.readableEnded)
  t.equal(Buffer.concat(late).length, 3_000_006, 'nothing is lost to a pause')
  for (const each of sockets) each.destroy()
})
