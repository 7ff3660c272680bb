import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { startCannedBackend, startServer } from '../../setup/backend.ts'
import { connectProxy, headOf } from './proxies.ts'

/** Field lines, with names repeated and in two cases. */
function linesOf(count: number): readonly string[] {
  return Array.from(
    { length: count },
    (_, index) => `${index % 2 === 0 ? 'x' : 'X'}-${index % 400}: ${index}`,
  )
}

t.test('requests of 100 and of 1,000 fields pass, every one of them in order', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('ok')))
  const client = await connectProxy(t, backend.url, { config: { limits: { headers: '64KiB' } } })
  for (const count of [100, 1_000]) {
    const lines = linesOf(count)
    client.send(headOf('GET / HTTP/1.1', ...lines))
    t.equal((await client.response()).status, 200)
    t.strictSame(
      backend.heads
        .at(-1)
        ?.text.split('\r\n')
        .filter((line) => /^x-\d/i.test(line)),
      lines,
    )
  }
})

t.test('answers of 100 and of 1,000 fields pass, every one of them in order', async (t) => {
  for (const count of [100, 1_000]) {
    const lines = linesOf(count)
    const backend = await startCannedBackend(
      t,
      `HTTP/1.1 200 OK\r\n${lines.join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`,
    )
    const client = await connectProxy(t, backend)
    client.send(headOf('GET / HTTP/1.1'))
    const { head, body } = await client.response()
    t.equal(body, 'ok')
    t.strictSame(
      head.split('\r\n').filter((line) => /^x-\d/i.test(line)),
      lines,
    )
  }
})

t.test('more fields than the limit takes are refused with 431', async (t) => {
  const client = await connectProxy(t, await startCannedBackend(t, ''), {
    config: { limits: { headers: '4KiB' } },
  })
  client.send(headOf('GET / HTTP/1.1', ...linesOf(1_000)))
  t.equal((await client.response()).status, 431)
})

t.test('a value that a client folds or breaks never reaches the target as a line of its own', async (t) => {
  let received: readonly string[] = []
  const url = await startServer(t, ({ rawHeaders }, response) => {
    received = rawHeaders
    response.end('ok')
  })
  for (const value of [
    'a\r\n X-User-Id: eve',
    'a\r\n\tX-User-Id: eve',
    'a\rX-User-Id: eve',
    'a\nX-User-Id: eve',
    'a\n X-User-Id: eve',
  ]) {
    received = []
    const client = await connectProxy(t, url)
    client.send(headOf('GET / HTTP/1.1', `X-Folded: ${value}`))
    await client.response()
    t.notOk(
      received.some((text) => /^x-user-id$/i.test(text)),
      JSON.stringify(value),
    )
    t.notOk(received.some((text) => /[\r\n]/.test(text)))
  }
})

t.test('bytes beyond ASCII pass as they are, both ways', async (t) => {
  for (const framing of [
    'Content-Length: 2\r\n\r\nok',
    'Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
  ]) {
    const answer = Buffer.from(`HTTP/1.1 200 OK\r\nX-Name: J\xfcrgen \xff\r\n${framing}`, 'latin1')
    const backend = await startHeadBackend(t, ({ socket }) => socket.write(answer))
    const client = await connectProxy(t, backend.url)
    client.send(headOf('GET / HTTP/1.1', 'X-Name: \xc3\xa9 \x80'))
    t.equal((await client.response()).headers['x-name'], 'J\xfcrgen \xff')
    t.ok(backend.heads[0]?.text.includes('\r\nX-Name: \xc3\xa9 \x80\r\n'))
  }
})
