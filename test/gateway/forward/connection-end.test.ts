import { once } from 'node:events'
import t, { type Test } from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { startBackend, startRawBackend, startServer } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectRaw, type RawClient } from '../../setup/raw-client.ts'
import { assertProblem } from '../support/problem.ts'
import { connectProxy, headOf, startProxy } from './proxies.ts'

t.test('a body of several MB that is refused ends the connection, and says so', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const { url } = await startProxy(t, backend.url, { route: { maxBody: '1KiB' } })
  const size = 5_000_000
  for (let round = 0; round < 5; round++) {
    const client = await connectRaw(t, url)
    client.send(headOf('POST / HTTP/1.1', `Content-Length: ${size}`))
    for (let sent = 0; sent < size; sent += 100_000) client.send(Buffer.alloc(100_000))
    const response = await client.response()
    assertProblem(t, response, { status: 413, code: 'body-too-large' })
    t.equal(response.headers.connection, 'close')
    client.close()
  }
})

t.test('a small rest of a refused body is discarded, and the connection goes on', async (t) => {
  const backend = await startBackend(t)
  const { url } = await startProxy(t, backend.url, { route: { maxBody: '1KiB' } })
  for (const size of [1_025, 1_048_576]) {
    const client = await connectRaw(t, url)
    client.send(headOf('POST / HTTP/1.1', `Content-Length: ${size}`))
    const { status, headers } = await client.response()
    t.strictSame([status, headers.connection], [413, 'keep-alive'], `${size}`)
    client.send(Buffer.alloc(size)).send(headOf('GET / HTTP/1.1'))
    t.equal((await client.response()).body, 'ok')
  }
  const client = await connectRaw(t, url)
  client.send(headOf('POST / HTTP/1.1', 'Content-Length: 1048577'))
  t.equal((await client.response()).headers.connection, 'close')
})

t.test('a client that has closed its side still gets its answer', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    setTimeout(() => socket.write(answerOf(path)), 300)
  })
  const both = headOf('GET /one HTTP/1.1') + headOf('GET /two HTTP/1.1')
  const client = await sendAndClose(t, backend.url, both)
  t.equal((await client.response()).body, '/one')
  t.equal((await client.response()).body, '/two')
  await client.ended()
})

t.test('a half-closed HTTP/1.1 client gets its answer, however long it takes', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await sendAndClose(t, backend.url, headOf('GET / HTTP/1.1'))
  const asked = await until('it is asked', () => backend.heads[0])
  for (let probes = 0; probes < 4; probes++) t.equal((await client.response()).status, 102)
  asked.socket.write(answerOf('late'))
  t.equal((await client.response()).body, 'late')
  await client.ended()
})

t.test('a half-closed HTTP/1.0 client waits 0.7 s, and then gets a reset, no complete answer', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await sendAndClose(t, backend.url, headOf('GET / HTTP/1.0'))
  await t.rejects(client.ended(), { code: 'ECONNRESET' })
  await until('the target is rid of it', () => backend.sockets[0]?.closed || undefined)
})

/** A client that has closed both sides in order, once the target is asked and has sent this much of an answer. */
async function leaveInOrder(t: Test, version: '1.0' | '1.1', answered: string) {
  const backend = await startHeadBackend(t, ({ socket }) => void (answered && socket.write(answered)))
  const client = await connectProxy(t, backend.url)
  client.send(headOf(`GET / HTTP/${version}`))
  const asked = await until('it is asked', () => backend.heads[0])
  if (answered) await client.readUntil('first')
  const leftAt = performance.now()
  client.close()
  await once(asked.socket, 'close')
  return performance.now() - leftAt
}

const begun = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n'

for (const version of ['1.0', '1.1'] as const) {
  for (const [where, answered] of [
    ['before its answer', ''],
    ['within a silent body', begun],
  ] as const) {
    t.test(`an HTTP/${version} client that closes in order ${where} is noticed within 0.9 s`, async (t) => {
      // The machine may be busy: the best of six.
      const times: number[] = []
      while (times.length < 6 && !times.some((ms) => ms < 900))
        times.push(await leaveInOrder(t, version, answered))
      t.ok(Math.min(...times) < 900, `after ${times.map(Math.round)} ms`)
    })
  }
}

t.test('a half-closed HTTP/1.0 client gets a stream that pauses for less than half a second', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write(begun)
    // Well below, as a busy machine may fire it late.
    setTimeout(() => socket.write('6\r\nsecond\r\n0\r\n\r\n'), 250)
  })
  const client = await sendAndClose(t, backend.url, headOf('GET / HTTP/1.0'))
  await client.readUntil('firstsecond')
  await client.ended()
})

t.test('a client that has closed its side gets a stream for as long as it flows', async (t) => {
  const url = await startServer(t, (_request, response) => {
    let sent = 0
    const timer = setInterval(() => {
      sent++
      if (sent < 9) response.write('x')
      else {
        clearInterval(timer)
        response.end('!')
      }
    }, 250)
    response.on('close', () => clearInterval(timer))
  })
  const client = await sendAndClose(t, url, headOf('GET / HTTP/1.1'))
  t.equal((await client.response()).body, 'xxxxxxxx!')
})

t.test('a first packet with a broken chunk is 502, not a connection that just ends', async (t) => {
  for (const body of ['x\r\nbad', '2\r\nokbad', '2;=b\r\nok\r\n0\r\n\r\n']) {
    const backend = await startHeadBackend(t, ({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`)
    })
    const client = await connectProxy(t, backend.url)
    client.send(headOf('GET / HTTP/1.1'))
    assertProblem(t, await client.response(), { status: 502, code: 'upstream-invalid-response' })
    client.send(headOf('GET / HTTP/1.1'))
    t.equal((await client.response()).status, 502, 'the connection goes on')
  }
})

t.test('a client that reads nothing for longer than the idle timeout still gets all of it', async (t) => {
  const size = 32 * 1_048_576
  const url = await startServer(t, (_request, response) => {
    response.writeHead(200, { 'Content-Length': size }).end(Buffer.alloc(size, 120))
  })
  const { url: gateway } = await startProxy(t, url, { upstream: { timeouts: { idle: '200ms' } } })
  const client = await connectRaw(t, gateway)
  client.send(headOf('GET / HTTP/1.1'))
  const head = await client.readUntil('\r\n\r\n')
  t.match(head, '200 OK')
  client.socket.pause()
  // Three idle timeouts: were this too short, the test would see less, not something else.
  await new Promise((resolve) => setTimeout(resolve, 600))
  let received = 0
  client.socket.removeAllListeners('data').on('data', (chunk) => {
    received += chunk.length
  })
  client.socket.resume()
  await until('all of it has come', () => received > size - 1_000_000 && !client.socket.closed, 20_000)
})

t.test('silence of a target that is read is still noticed', async (t) => {
  const url = await startRawBackend(t, (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'))
  })
  const { url: gateway } = await startProxy(t, url, { upstream: { timeouts: { idle: '200ms' } } })
  const client = await connectRaw(t, gateway)
  client.send(headOf('GET / HTTP/1.1'))
  await client.readUntil('part')
  await client.ended()
})

/** A client that has sent something and closed its side. */
async function sendAndClose(t: Test, backend: string, sent: string): Promise<RawClient> {
  return closeBehind(t, (await startProxy(t, backend)).url, sent)
}

async function closeBehind(t: Test, url: string, sent: string): Promise<RawClient> {
  const client = await connectRaw(t, url)
  client.socket.allowHalfOpen = true
  client.send(sent).socket.end()
  return client
}
