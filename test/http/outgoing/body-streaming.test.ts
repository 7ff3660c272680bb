import type { Socket } from 'node:net'
import t from 'tap'
import { startRawBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { answerOf, startHeadBackend } from './backends.ts'
import { exchange, openTestUpstream } from './exchange.ts'

const megabyte = 1_048_576
const tick = () => new Promise((resolve) => setImmediate(resolve))

/** A backend that keeps what it gets, and answers once it has seen some text. */
async function startRecorder(t: Parameters<typeof startRawBackend>[0], answerAfter: string) {
  const got = { text: '' }
  const url = await startRawBackend(t, (socket) => {
    socket.on('data', (data) => {
      got.text += data.toString('latin1')
      if (got.text.endsWith(answerAfter)) socket.write(answerOf('ok'))
    })
  })
  return { url, got }
}

t.test('a chunked body is reframed with its trailers, and an empty piece does not end it', async (t) => {
  const { url, got } = await startRecorder(t, '0\r\nX-Sum: 1\r\n\r\n')
  const lines = 'Transfer-Encoding: chunked\r\n'
  const { call, sent, answer } = exchange(openTestUpstream(t, url), {
    method: 'POST',
    body: 'chunked',
    lines,
  })
  await sent
  for (const piece of ['hello', '', 'x'.repeat(300)]) call.write(Buffer.from(piece))
  call.finish('X-Sum: 1\r\n')
  t.equal((await answer).body, 'ok')
  t.equal(
    got.text.split('\r\n\r\n').slice(1).join('\r\n\r\n'),
    `5\r\nhello\r\n12c\r\n${'x'.repeat(300)}\r\n0\r\nX-Sum: 1\r\n\r\n`,
  )
})

t.test('a body with a length is sent byte for byte', async (t) => {
  const { url, got } = await startRecorder(t, 'end')
  const lines = 'Content-Length: 8\r\n'
  const { call, sent, answer } = exchange(openTestUpstream(t, url), {
    method: 'POST',
    body: 'counted',
    lines,
  })
  await sent
  for (const piece of [Buffer.from([0, 13, 10, 0xff]), Buffer.alloc(0), Buffer.from('\nend')])
    call.write(piece)
  call.finish('')
  await answer
  t.equal(got.text.slice(got.text.indexOf('\r\n\r\n') + 4), '\0\r\n\xff\nend')
})

t.test('a request head is sent in Latin-1', async (t) => {
  const { url, got } = await startRecorder(t, '\r\n\r\n')
  await exchange(openTestUpstream(t, url), { path: '/caf\xe9', lines: 'X-Name: J\xfcrgen\r\n' }).answer
  t.match(got.text, 'GET /caf\xe9 HTTP/1.1\r\n')
  t.match(got.text, 'X-Name: J\xfcrgen\r\n')
})

t.test('writing faster than the target reads signals backpressure, and then drain', async (t) => {
  let target: Socket | undefined
  const url = await startRawBackend(t, (socket) => {
    target = socket.pause()
  })
  for (const [body, lines] of [
    ['counted', 'Content-Length: 99000000\r\n'],
    ['chunked', 'Transfer-Encoding: chunked\r\n'],
  ] as const) {
    const made = exchange(openTestUpstream(t, url), { method: 'POST', body, lines })
    await made.sent
    let isFlowing = true
    made.onDrain = () => {
      isFlowing = true
    }
    let written = 0
    // The buffers of the system take the first few.
    const isHeldUp = async () => {
      if (written > 50 * megabyte) throw new Error('it never says no')
      written += megabyte
      isFlowing = made.call.write(Buffer.alloc(megabyte))
      for (let wait = 0; wait < 20 && !isFlowing; wait++) await tick()
      return !isFlowing || undefined
    }
    await until('the target takes no more', isHeldUp)
    target?.resume()
    await until('there is room', () => isFlowing || undefined)
    made.call.cancel()
  }
})

t.test('a paused exchange reads no more than buffers hold, and loses nothing', async (t) => {
  let written = 0
  const total = 64 * megabyte
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
    const write = () => {
      while (written < total) {
        written += megabyte
        if (!socket.write(Buffer.alloc(megabyte, 'x'))) return
      }
    }
    socket.on('drain', write)
    write()
  })
  const made = exchange(openTestUpstream(t, backend.url))
  let received = 0
  made.onData = (chunk) => {
    if (received === 0) made.call.pause()
    received += chunk.length
  }
  await until('the first data', () => received > 0 || undefined)
  let before = -1
  await until('the target has backpressure', () => {
    const isStill = before === written
    before = written
    return isStill || undefined
  })
  t.ok(received < megabyte, `${received} bytes were delivered while paused`)
  t.ok(written < total, 'the target could write it all')
  made.call.resume()
  t.equal((await made.answer).body.length, total)
})

t.test('a response that may be cut, as the target stopped reading the body, fails for that', async (t) => {
  let target: Socket | undefined
  const url = await startRawBackend(t, (socket) => {
    target = socket.pause()
    socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(megabyte)}`, () => socket.destroySoon())
  })
  const upload = { method: 'PUT', body: 'counted', lines: 'Content-Length: 99000000\r\n' } as const
  const made = exchange(openTestUpstream(t, url), upload)
  // The end of the response is not read before a write has failed.
  made.onData = () => made.call.pause()
  await until('the target has gone', () => target?.destroyed || undefined)
  for (let turn = 0; turn < 20; turn++) {
    made.call.write(Buffer.alloc(1_000))
    await tick()
  }
  made.onData = () => {}
  made.call.resume()
  t.match(await made.failure, {
    reason: 'closed-early',
    message: 'the target stopped reading the request body',
  })
})

t.test('an early answer is read although the target then resets the connection', async (t) => {
  // It answers at the head and closes with most of the body unread, which makes the system send a reset.
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.pause()
    socket.write('HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig', () =>
      socket.destroy(),
    )
  })
  const upstream = openTestUpstream(t, backend.url)
  const upload = { method: 'PUT', body: 'counted', lines: 'Content-Length: 99000000\r\n' } as const
  const outcomes: string[] = []
  for (let round = 0; round < 50; round++) {
    const made = exchange(upstream, upload)
    await made.sent
    const pump = () => {
      while (made.events.length < 2 && made.call.write(Buffer.alloc(65_536)));
    }
    made.onDrain = pump
    pump()
    outcomes.push(
      await made.answer.then(
        ({ body }) => body,
        ({ reason }) => reason,
      ),
    )
  }
  t.strictSame([...new Set(outcomes)], ['big'])
})
