import t from 'tap'
import type { ClientConnection } from '#http/server/client-connection.ts'
import { sendTimeoutMs } from '#http/server/slow-clients.ts'
import { until } from '../../setup/net.ts'
import { connectRaw, type RawClient } from '../../setup/raw-client.ts'
import { answerWith, listen } from './listen.ts'

const request = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

t.test('a connection is kept alive for the time last announced to its client', async (t) => {
  const asked: ClientConnection[] = []
  const { port, reconfigure } = await listen(t, (connection) => void asked.push(connection), {
    requestTimeoutMs: 30_000,
    keepAliveTimeoutMs: 60_000,
    tls: undefined,
  })
  const client = await connectRaw(t, `http://127.0.0.1:${port}`)
  client.send(request)
  const connection = await until('it asks', () => asked[0])
  const leftS = () => Math.round((connection.deadline - performance.now()) / 1_000)

  connection.respond(200, 'OK', 'Content-Length: 2\r\n', 'counted')
  reconfigure({ keepAliveTimeoutMs: 5_000 })
  connection.end('ok')
  t.match((await client.response()).headers, { 'keep-alive': 'timeout=60' })
  t.equal(leftS(), 61, 'the announced timeout holds, even if it was changed meanwhile')

  client.send(request)
  await until('it asks again', () => asked[1])
  answerWith(connection, 'ok')
  t.match((await client.response()).headers, { 'keep-alive': 'timeout=5' })
  t.equal(leftS(), 6)
})

t.test('reading continues after a body whose last piece was held back', async (t) => {
  const { port } = await listen(
    t,
    (connection) => {
      if (connection.bodyState === 'complete') return answerWith(connection, 'next')
      connection.attach({
        onBodyData: () => connection.pauseBody(),
        isChunkReleased: () => true,
        onBodyEnd: () => void setImmediate(() => answerWith(connection, 'first')),
        onBodyError: () => connection.abort(),
        onClientDrain: () => {},
        onAbort: () => {},
      })
      return connection.resumeBody()
    },
    { requestTimeoutMs: 30_000, tls: undefined },
  )
  const client = await connectRaw(t, `http://127.0.0.1:${port}`)
  client.send('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello')
  t.equal((await client.response()).body, 'first')
  client.send(request)
  t.equal((await client.response()).body, 'next')
})

t.test('a connection with an unread answer still has a deadline', async (t) => {
  const asked: ClientConnection[] = []
  const { port } = await listen(
    t,
    (connection) => {
      asked.push(connection)
      answerWith(connection, 'x'.repeat(20_000_000))
    },
    { requestTimeoutMs: 30_000, tls: undefined },
  )
  const client = await connectRaw(t, `http://127.0.0.1:${port}`)
  client.socket.pause()
  client.send(request)
  const connection = await until('it asks', () => asked[0])
  t.ok(connection.socket.writableLength > 0, 'some of it is left')
  t.ok(connection.deadline - performance.now() <= sendTimeoutMs)
  t.equal(sendTimeoutMs, 60_000, 'as of nginx')
})

t.test('the end of an answer has a deadline even if the socket drains before it is written', async (t) => {
  const deadlines: number[] = []
  const { port } = await listen(
    t,
    (connection) => {
      connection.respond(200, 'OK', '', 'chunked')
      connection.startSendTimeout()
      connection.socket.emit('drain')
      deadlines.push(connection.deadline)
      connection.end()
      connection.socket.emit('drain')
      deadlines.push(connection.deadline - performance.now())
    },
    { requestTimeoutMs: 30_000, tls: undefined },
  )
  const client = await connectRaw(t, `http://127.0.0.1:${port}`)
  client.send(request)
  t.equal((await client.response()).status, 200)
  const [within = 0, atEnd = 0] = deadlines
  t.equal(within, Number.POSITIVE_INFINITY, 'an answer that goes on has none')
  t.ok(atEnd <= sendTimeoutMs, String(atEnd))
})

t.test('a client that asks for the end gets it at once, unless it may still send something', async (t) => {
  const { port, connections } = await listen(
    t,
    (connection) => {
      connection.attach(undefined)
      connection.resumeBody()
      answerWith(connection, 'last')
    },
    { requestTimeoutMs: 30_000, tls: undefined },
  )
  async function ask(text: string): Promise<RawClient> {
    const client = await connectRaw(t, `http://127.0.0.1:${port}`)
    client.socket.allowHalfOpen = true
    client.send(text)
    t.match(await client.response(), { body: 'last', headers: { connection: 'close' } })
    return client
  }
  const closing = 'Host: x\r\nConnection: close\r\n'
  for (const text of [`GET / HTTP/1.1\r\n${closing}\r\n`, 'GET / HTTP/1.0\r\n\r\n']) {
    await ask(text)
    await until('it is closed', () => connections.size === 0)
  }
  for (const text of [
    `POST / HTTP/1.1\r\n${closing}Content-Length: 2\r\n\r\nab`,
    `GET / HTTP/1.1\r\n${closing}\r\nmore`,
  ]) {
    const client = await ask(text)
    client.send('\r\n')
    await until('its end has come', () => client.socket.readableEnded)
    t.equal(connections.size, 1, text)
    client.socket.end()
    await until('it is closed', () => connections.size === 0)
  }
})

t.test('a client that is gone before its last response is forgotten at once', async (t) => {
  const { port, connections } = await listen(t, (connection) => answerWith(connection, 'last'), {
    requestTimeoutMs: 30_000,
    tls: undefined,
    isDraining: () => true,
  })
  for (let round = 0; round < 10; round++) {
    const client = await connectRaw(t, `http://127.0.0.1:${port}`)
    await until('it is there', () => connections.size === 1)
    client.send(request).socket.destroySoon()
    const before = performance.now()
    await until('it is closed', () => connections.size === 0)
    t.ok(performance.now() - before < 1_500, 'which is sooner than the time to linger')
  }
})
