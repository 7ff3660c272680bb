import t, { type Test } from 'tap'
import { startRawBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { answerOf, startHeadBackend } from './backends.ts'
import { exchange, openTestUpstream, request } from './exchange.ts'

/** How long something took, with some allowance below: timers and clock are not one. */
async function took(t: Test, what: Promise<unknown>, atLeastMs: number, atMostMs: number): Promise<void> {
  const start = performance.now()
  await what
  const tookMs = performance.now() - start
  t.ok(tookMs > atLeastMs - 5 && tookMs < atMostMs, `took ${tookMs} ms`)
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

t.test('a TLS handshake that never ends fails after the connect timeout', async (t) => {
  const url = await startRawBackend(t, (socket) => socket.resume())
  const upstream = openTestUpstream(t, url.replace('http:', 'https:'), { connectTimeoutMs: 100 })
  const { failure } = exchange(upstream, { method: 'POST' })
  await took(t, failure, 100, 3_000)
  t.equal((await failure).reason, 'connect-timeout')
})

t.test('a silent target fails after the response timeout', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const { failure } = exchange(openTestUpstream(t, backend.url), { responseTimeoutMs: 100 })
  await took(t, failure, 100, 3_000)
  t.equal((await failure).reason, 'response-timeout')
  await until('the connection is closed', () => backend.sockets[0]?.closed || undefined)
})

t.test('neither a partial head nor a 1xx extends the response timeout', async (t) => {
  const trickles = [
    { first: 'HTTP/1.1 200 OK\r\nX: ', next: 'y' },
    { first: '', next: 'HTTP/1.1 102 Processing\r\n\r\n' },
  ]
  for (const { first, next } of trickles) {
    const backend = await startHeadBackend(t, ({ socket }) => {
      socket.write(first)
      const timer = setInterval(() => socket.write(next), 20)
      socket.on('close', () => clearInterval(timer))
    })
    const { failure } = exchange(openTestUpstream(t, backend.url), { responseTimeoutMs: 150 })
    await took(t, failure, 150, 3_000)
    t.equal((await failure).reason, 'response-timeout')
  }
})

t.test('the response timeout starts at the end of the request', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.on('data', (data) => {
      if (data.includes('last')) socket.write(answerOf('ok'))
    })
  })
  const upstream = openTestUpstream(t, backend.url)
  const { call, sent, answer } = exchange(upstream, {
    method: 'POST',
    body: 'counted',
    lines: 'Content-Length: 14\r\n',
    responseTimeoutMs: 250,
  })
  await sent
  for (const piece of ['first ', 'then']) {
    call.write(Buffer.from(piece))
    await pause(300)
  }
  call.write(Buffer.from('last'))
  call.finish('')
  t.equal((await answer).body, 'ok')
})

t.test('the response timeout is counted in full after the end of an upload', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const upstream = openTestUpstream(t, backend.url, { idleTimeoutMs: 5_000 })
  const { call, sent, failure } = exchange(upstream, {
    method: 'POST',
    body: 'counted',
    lines: 'Content-Length: 2\r\n',
    responseTimeoutMs: 100,
  })
  await sent
  call.write(Buffer.from('ok'))
  call.finish('')
  await took(t, failure, 100, 3_000)
  t.equal((await failure).reason, 'response-timeout')
})

t.test('a silent answer body times out, one that keeps moving does not', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n')
    let sent = 0
    const timer = setInterval(() => {
      if (path === '/moves' || sent < 2) socket.write('x')
      sent++
      if (sent === 8) clearInterval(timer)
    }, 60)
    socket.on('close', () => clearInterval(timer))
  })
  const upstream = openTestUpstream(t, backend.url, { idleTimeoutMs: 300, responseTimeoutMs: 300 })
  t.equal((await request(upstream, { path: '/moves' })).body, 'xxxxxxxx')
  const { failure, events } = exchange(upstream, { path: '/stops' })
  t.equal((await failure).reason, 'idle-timeout')
  t.strictSame(events, ['sent', 'head', 'data', 'idle-timeout'])
})

t.test('a stalled client is not reported as a target that stops reading', async (t) => {
  const reading = await startHeadBackend(t, () => {})
  const upload = { method: 'POST', body: 'counted', lines: 'Content-Length: 90000000\r\n' } as const
  const stalled = exchange(openTestUpstream(t, reading.url, { idleTimeoutMs: 100 }), upload)
  await stalled.sent
  stalled.call.write(Buffer.from('not all'))
  t.equal((await stalled.failure).reason, 'body-stalled')

  const deaf = await startRawBackend(t, (socket) => socket.pause())
  const pushed = exchange(openTestUpstream(t, deaf, { idleTimeoutMs: 100 }), upload)
  await pushed.sent
  const chunk = Buffer.alloc(1_048_576)
  while (pushed.call.write(chunk)) await pause(1)
  t.equal((await pushed.failure).reason, 'idle-timeout')
})

t.test('a moving upload keeps its exchange alive while the target is silent, in both framings', async (t) => {
  for (const [body, lines] of [
    ['counted', 'Content-Length: 5\r\n'],
    ['chunked', 'Transfer-Encoding: chunked\r\n'],
  ] as const) {
    const backend = await startHeadBackend(t, ({ socket }) => {
      socket.on('data', (data) => {
        if (data.includes('E')) socket.write(answerOf('ok'))
      })
    })
    const upstream = openTestUpstream(t, backend.url, { idleTimeoutMs: 300 })
    const { call, sent, answer } = exchange(upstream, { method: 'PUT', body, lines })
    await sent
    for (const letter of 'ABCD') {
      await pause(120)
      call.write(Buffer.from(letter))
    }
    call.write(Buffer.from('E'))
    call.finish('')
    t.equal((await answer).body, 'ok')
  }
})

t.test('a finished exchange leaves no timer that could end the next one', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    setTimeout(() => socket.write(answerOf(path)), path === '/slow' ? 150 : 0)
  })
  const upstream = openTestUpstream(t, backend.url)
  await request(upstream, { path: '/fast', responseTimeoutMs: 100 })
  t.equal((await request(upstream, { path: '/slow', responseTimeoutMs: 2_000 })).body, '/slow')
  t.equal(backend.sockets.length, 1)
})
