import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { startRawBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { startRedis } from '../../setup/redis.ts'
import { connectProxy, countInFlight, headOf, startProxy, untilInFlight } from './proxies.ts'

t.test('a client that leaves while it waits cancels its request', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET / HTTP/1.1'))
  await until('it is asked', () => backend.heads[0])
  client.close()
  await until('the target is rid of it', () => backend.sockets[0]?.closed || undefined)
})

t.test('a client that resets its connection cancels its request too', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await connectProxy(t, backend.url)
  client.send(`${headOf('POST / HTTP/1.1', 'Content-Length: 100')}part`)
  await until('it is asked', () => backend.heads[0])
  client.socket.resetAndDestroy()
  await until('the target is rid of it', () => backend.sockets[0]?.closed || undefined)
})

t.test('a client that leaves within an answer cancels what is left of it', async (t) => {
  let written = 0
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\n')
    const write = () => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536))) written += 65_536
    }
    socket.on('drain', write)
    write()
  })
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET / HTTP/1.1'))
  await client.readBytes(100_000)
  client.close()
  await until('the target is rid of it', () => backend.sockets[0]?.closed || undefined)
  t.ok(written < 900_000_000)
})

t.test('a client that leaves within its upload is not taken for one that has sent it whole', async (t) => {
  for (const [framing, part] of [
    ['Content-Length: 100', 'part'],
    ['Transfer-Encoding: chunked', '4\r\npart\r\n'],
  ] as const) {
    let received = ''
    let isClosed = false
    const url = await startRawBackend(t, (socket) => {
      socket.on('data', (data) => {
        received += String(data)
      })
      socket.on('close', () => {
        isClosed = true
      })
    })
    const client = await connectProxy(t, url)
    client.send(headOf('POST / HTTP/1.1', framing) + part)
    await until('part of it has come', () => received.includes('part') || undefined)
    client.close()
    await until('the target is rid of it', () => isClosed || undefined)
    t.notMatch(received, /0\r\n\r\n$/)
  }
})

t.test('a client that leaves while it waits for a connection is not sent at all', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const gateway = await startProxy(t, backend.url, { upstream: { connections: 1 } })
  const [first, second] = [await connectRaw(t, gateway.url), await connectRaw(t, gateway.url)]
  first.send(headOf('GET /first HTTP/1.1'))
  const head = await until('the first is asked', () => backend.heads[0])
  second.send(headOf('GET /second HTTP/1.1'))
  await untilInFlight(gateway, 2)
  second.close()
  await untilInFlight(gateway, 1)
  head.socket.write(answerOf('ok'))
  t.equal((await first.response()).body, 'ok')
  first.send(headOf('GET /third HTTP/1.1'))
  t.equal((await until('the third is asked', () => backend.heads[1])).path, '/third')
  t.equal(backend.sockets.length, 1, 'on the connection that became free')
})

t.test('a request of a client that has already reset its connection is not forwarded', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('ok')))
  const { url, logLines } = await startProxy(t, backend.url)
  const request = headOf('POST /reset HTTP/1.1', 'Content-Length: 0')
  await Promise.all(Array.from({ length: 50 }, () => sendAndReset(url, request)))
  const client = await connectRaw(t, url)
  t.equal((await client.send(headOf('GET / HTTP/1.1')).response()).body, 'ok')
  for (const { text } of backend.heads) t.match(text, /\r\nX-Forwarded-For: 127\.0\.0\.1(?:\r\n|$)/)
  t.notMatch(logLines.join(''), '"client":""')
})

t.test('a client that leaves while it is decided about reaches no target', async (t) => {
  const redis = await startRedis(t)
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('ok')))
  const gateway = await startProxy(t, backend.url, {
    route: { rateLimit: { limit: 1_000, per: '1s' } },
    redis,
  })
  const hasArrived = (path: string) => backend.heads.some((head) => head.path === path)

  /** @returns whether the request of a client that has left came to the backend */
  async function leave(attempt: number): Promise<boolean> {
    const [leaving, staying] = [await connectRaw(t, gateway.url), await connectRaw(t, gateway.url)]
    redis.signal('SIGSTOP')
    leaving.send(headOf(`POST /leaving/${attempt} HTTP/1.1`, 'Content-Length: 0'))
    const seen = () => hasArrived(`/leaving/${attempt}`)
    await until(
      'it is decided about',
      async () => (await countInFlight(gateway)) === 1 || seen() || undefined,
    )
    leaving.socket.resetAndDestroy()
    await untilInFlight(gateway, 0)
    redis.signal('SIGCONT')
    staying.send(headOf('GET /staying HTTP/1.1'))
    t.equal((await staying.response()).body, 'ok')
    return seen()
  }

  // Without an answer of Redis the gateway decides on its own after a while: a busy machine may take longer to leave.
  let hasReached = true
  for (let attempt = 0; attempt < 5 && hasReached; attempt++) hasReached = await leave(attempt)
  t.notOk(hasReached)
})

/** Without waiting for the other side. */
async function sendAndReset(url: string, text: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(text, () => socket.resetAndDestroy())
  await once(socket, 'close')
}
