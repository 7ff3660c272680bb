import t, { type Test } from 'tap'
import type { ClientConnection } from '#http/server/client-connection.ts'
import { until } from '../../setup/net.ts'
import { connectRaw, type RawClient } from '../../setup/raw-client.ts'
import { listen } from './listen.ts'

/** A client that has sent a request and closed its side. */
async function sendAndClose(t: Test, port: number, requestLine: string): Promise<RawClient> {
  const client = await connectRaw(t, `http://127.0.0.1:${port}`)
  client.socket.allowHalfOpen = true
  client.send(`${requestLine}\r\nHost: x\r\n\r\n`).socket.end()
  return client
}

/** Resolves once a client that came later, and is not answered, has been sent all that shows whether it is there. */
async function untilProbed(t: Test, port: number): Promise<void> {
  const other = await sendAndClose(t, port, 'GET /held HTTP/1.1')
  for (let probes = 0; probes < 4; probes++) t.equal((await other.response()).status, 102)
}

const piece = Buffer.alloc(16_000, 120)

/** Writes to a client that does not read until a little of it, less than asks for patience, is left. @returns how much */
async function fill(connection: ClientConnection): Promise<number> {
  const { socket } = connection
  let [size, stuck] = [0, 0]
  await until('no more is taken', () => {
    stuck = socket.writableLength === 0 ? 0 : stuck + 1
    while (socket.writableLength === 0) {
      connection.write(piece)
      connection.flush()
      size += piece.length
    }
    return stuck > 50
  })
  return size
}

/** A listener, and a client that has closed its side and reads nothing of an answer that has begun. */
async function startStuck(t: Test, version: '1.0' | '1.1') {
  const asked: ClientConnection[] = []
  const { port } = await listen(t, (connection) => void asked.push(connection), {
    requestTimeoutMs: 30_000,
    tls: undefined,
  })
  const client = await sendAndClose(t, port, `GET / HTTP/${version}`)
  client.socket.pause()
  const connection = await until('it asks', () => asked[0])
  connection.respond(200, 'OK', '', version === '1.1' ? 'chunked' : 'until-close')
  const size = await fill(connection)
  t.notOk(connection.socket.writableNeedDrain)
  return { port, client, connection, size }
}

/** @returns how much of the pieces has come, and the last bytes */
async function readAll(client: RawClient) {
  client.socket.resume()
  await client.ended()
  const all = client.rest().toString('latin1')
  return { size: all.split('x').length - 1, heads: all.split('HTTP/1.1 ').length - 1, end: all.slice(-5) }
}

t.test('a half-closed client that reads slowly is not taken for disconnected', async (t) => {
  for (const version of ['1.0', '1.1'] as const) {
    const { port, client, connection, size } = await startStuck(t, version)
    await untilProbed(t, port)
    connection.end()
    const end = version === '1.1' ? '0\r\n\r\n' : 'xxxxx'
    t.strictSame(await readAll(client), { size, heads: 1, end }, version)
  }
})

t.test('nothing is written behind a complete answer that a half-closed client has not read', async (t) => {
  const { port, client, connection, size } = await startStuck(t, '1.1')
  connection.end()
  t.ok(connection.isHeadSent, 'there cannot be another answer in its place')
  await untilProbed(t, port)
  t.strictSame(await readAll(client), { size, heads: 1, end: '0\r\n\r\n' })
})
