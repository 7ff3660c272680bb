import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { preface } from '#http/h2/framing/preface.ts'
import type { ClientConnection } from '#http/server/client-connection.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { until } from '../../setup/net.ts'
import { RawClient } from '../../setup/raw-client.ts'
import { answerWith, listen } from './listen.ts'

/** Answers each request with its target and body. */
async function listenOverTls(t: Test) {
  function onRequest(connection: ClientConnection, { target }: { readonly target: string }): void {
    let body = `${connection.protocol} ${target} `
    const answer = () => answerWith(connection, body)
    connection.attach({
      onBodyData: (chunk) => {
        body += chunk.toString('latin1')
      },
      isChunkReleased: () => true,
      onBodyEnd: answer,
      onBodyError: () => connection.abort(),
      onClientDrain: () => {},
      onAbort: () => {},
    })
    if (connection.bodyState === 'complete') answer()
    else connection.resumeBody()
  }
  return listen(t, onRequest, { requestTimeoutMs: 1_000, tls: makeCertificate(t, 'DNS:localhost') })
}

t.test('a connection over TLS carries many requests with bodies', async (t) => {
  const { port } = await listenOverTls(t)
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  t.equal(socket.alpnProtocol, 'http/1.1')
  const client = new RawClient(socket)
  t.teardown(() => client.close())
  for (let index = 0; index < 3; index++) {
    client.send(`GET /${index} HTTP/1.1\r\n\r\nPOST /p HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello`)
    t.equal((await client.response()).body, `https /${index} `)
    t.equal((await client.response()).body, 'https /p hello')
  }
  const large = 'x'.repeat(300_000)
  client.send(`POST /l HTTP/1.1\r\nContent-Length: ${large.length}\r\n\r\n${large}`)
  t.equal((await client.response()).body, `https /l ${large}`)
})

t.test('a client that never completes the TLS handshake is disconnected, and forgotten', async (t) => {
  const { port, connections } = await listenOverTls(t)
  const socket = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {})
  await once(socket, 'connect')
  socket.resume()
  await until('it is closed', () => socket.closed)
  t.equal(connections.size, 0)
})

t.test('a connection ended before the TLS handshake is closed at once', async (t) => {
  const { port, server } = await listenOverTls(t)
  const socket = connectTcp({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  const count = () => new Promise((resolve) => server.getConnections((_error, open) => resolve(open)))
  await until('it is taken', async () => (await count()) === 1)
  const endedAt = performance.now()
  socket.end().resume()
  await until('it is gone', async () => (await count()) === 0)
  t.ok(performance.now() - endedAt < 900, 'before the handshake has taken too long')
})

t.test('a half-closed TLS client gets its answer', async (t) => {
  const onRequest = (connection: ClientConnection) =>
    void connection.socket.once('end', () => setImmediate(() => answerWith(connection, 'late')))
  const { port } = await listen(t, onRequest, {
    requestTimeoutMs: 1_000,
    tls: makeCertificate(t, 'DNS:localhost'),
  })
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false, allowHalfOpen: true }
  const socket = connect(options)
  await once(socket, 'secureConnect')
  const client = new RawClient(socket)
  t.teardown(() => client.close())
  socket.end('GET / HTTP/1.1\r\n\r\n')
  t.equal((await client.response()).body, 'late')
})

t.test('a body buffered when a TLS client half-closes is still read', async (t) => {
  const asked: ClientConnection[] = []
  const onRequest = (connection: ClientConnection) => {
    let body = ''
    connection.attach({
      onBodyData: (chunk) => {
        body += chunk.toString('latin1')
      },
      isChunkReleased: () => true,
      onBodyEnd: () => answerWith(connection, body),
      onBodyError: () => connection.abort(),
      onClientDrain: () => {},
      onAbort: () => {},
    })
    asked.push(connection)
  }
  const { port } = await listen(t, onRequest, {
    requestTimeoutMs: 1_000,
    tls: makeCertificate(t, 'DNS:localhost'),
  })
  const { tcp, socket, client } = await connectOverDuplex(t, port)
  socket.allowHalfOpen = true
  // All of it, with the word that it is the last, in one piece.
  tcp.cork()
  socket.end('POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello', () => tcp.uncork())
  const connection = await until('it asks', () => asked[0])
  await until('its end is seen', () => connection.socket.readableEnded)
  connection.resumeBody()
  t.equal((await client.response()).body, 'hello')
})

t.test(
  'TLS records that arrive together, just after a response has ended, are read in their order',
  async (t) => {
    const large = Buffer.alloc(20_000, 'x')
    const asked: ClientConnection[] = []
    function onRequest(connection: ClientConnection, { target }: { readonly target: string }): void {
      connection.respond(200, target, `Content-Length: ${large.length}\r\n`, 'counted')
      connection.write(large)
      if (asked.push(connection) > 1) connection.end()
    }
    const { port } = await listen(t, onRequest, {
      requestTimeoutMs: 1_000,
      tls: makeCertificate(t, 'DNS:localhost'),
    })
    const { tcp, socket, client } = await connectOverDuplex(t, port)
    socket.write('GET /first HTTP/1.1\r\n\r\n')
    const connection = await until('it asks', () => asked[0])
    await until('all is written', () => connection.socket.writableLength === 0)
    const targets = Array.from({ length: 5 }, (_, index) => `/${index}`)
    tcp.cork()
    for (const target of targets) socket.write(`GET ${target} HTTP/1.1\r\n\r\n`)
    await new Promise<void>((resolve) => socket.write('', () => resolve()))
    // The end of the response has nothing left to write, and an empty write makes TLS deliver the next record.
    setTimeout(() => {
      connection.end()
      tcp.uncork()
    })
    for (const target of ['/first', ...targets])
      t.match((await client.response()).head, `HTTP/1.1 200 ${target}`)
  },
)

/** A TLS client whose records can be held back, by corking the socket below. */
async function connectOverDuplex(t: Test, port: number) {
  const tcp = connectTcp({ port, host: '127.0.0.1' })
  t.teardown(() => tcp.destroy())
  const socket = connect({ socket: duplexOf(tcp), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  return { tcp, socket, client: new RawClient(socket) }
}

/** The same stream, of which TLS does not know what it is: it writes through it. */
function duplexOf(tcp: Socket): Duplex {
  const duplex = new Duplex({
    read: () => {},
    write: (chunk, _encoding, done) => {
      tcp.write(chunk)
      done()
    },
  })
  tcp.on('data', (chunk) => duplex.push(chunk)).on('end', () => duplex.push(null))
  return duplex
}

t.test('a client that has reset its connection is known to its HTTP/2 session', async (t) => {
  const opened: unknown[] = []
  const { port } = await listen(t, () => {}, {
    requestTimeoutMs: 5_000,
    tls: undefined,
    openSession: (socket, peerAddress) => {
      opened.push(peerAddress)
      return {
        socket,
        deadline: Number.POSITIVE_INFINITY,
        place: -1,
        expire() {},
        exchanges: () => [],
        startDrain() {},
      }
    },
  })
  const socket = connectTcp({ port, host: '127.0.0.1' }).on('error', () => {})
  await once(socket, 'connect')
  socket.write(preface)
  socket.resetAndDestroy()
  t.equal(await until('it is opened', () => opened[0]), '127.0.0.1')
})
