import t from 'tap'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { startRawBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { connectProxy, headOf } from './proxies.ts'

t.test('every 1xx before the answer is passed on, in its place', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write(
      'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nLink: </b>\r\n\r\n',
    )
    socket.write(`HTTP/1.1 103 Early Hints\r\nX-Late: J\xfcrgen\r\n\r\n${answerOf('ok')}`, 'latin1')
  })
  const client = await connectProxy(t, backend.url)
  for (let turn = 0; turn < 2; turn++) {
    client.send(headOf('GET / HTTP/1.1'))
    t.equal((await client.response()).status, 102)
    const hints = await client.response()
    t.strictSame([hints.status, hints.headers.link], [103, '</a>; rel=preload\n</b>'])
    t.equal((await client.response()).headers['x-late'], 'J\xfcrgen')
    t.equal((await client.response()).body, 'ok')
  }
})

t.test('early hints arrive before the answer is there', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) =>
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
  )
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET / HTTP/1.1'))
  t.equal((await client.response()).status, 103)
  backend.sockets[0]?.write(answerOf('ok'))
  t.equal((await client.response()).body, 'ok')
})

t.test('a 1xx carries nothing of the connection to the target, nor any framing', async (t) => {
  const fields =
    'Connection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\nUpgrade: h2c\r\nX-Kept: 2'
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write(
      `HTTP/1.1 103 Early Hints\r\n${fields}\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n${answerOf('ok')}`,
    )
  })
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET / HTTP/1.1'))
  t.strictSame((await client.response()).headers, { 'x-kept': '2' })
  // A client that believed it would take the answer for a body (RFC 9110 8.6).
  t.strictSame((await client.response()).headers, {})
  t.equal((await client.response()).body, 'ok')
})

t.test('a client that speaks HTTP/1.0 gets no 1xx', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n${answerOf('ok')}`)
  })
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET / HTTP/1.0'))
  t.equal((await client.response()).status, 200)
})

t.test('an unrequested 100 is not passed on', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) =>
    socket.write(`HTTP/1.1 100 Continue\r\n\r\n${answerOf('ok')}`),
  )
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET / HTTP/1.1'))
  t.equal((await client.response()).status, 200)
})

const ask = ['Expect: 100-continue', 'Content-Length: 5'] as const

t.test('an expectation is passed on, and the client gets the 100 of the target, once', async (t) => {
  let received = ''
  const url = await startRawBackend(t, (socket) => {
    socket.on('data', (data) => {
      received += String(data)
      if (received.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(2))
      if (received.endsWith('hello')) socket.write(answerOf('ok'))
    })
  })
  const client = await connectProxy(t, url)
  client.send(headOf('PUT / HTTP/1.1', ...ask))
  t.equal((await client.response()).status, 100)
  t.match(received, /\r\nexpect: 100-continue\r\n/i)
  client.send('hello')
  t.equal((await client.response()).body, 'ok')
})

t.test('without a word of the target no 100 is sent', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await connectProxy(t, backend.url)
  client.send(headOf('PUT / HTTP/1.1', ...ask))
  const head = await until('the target is asked', () => backend.heads[0])
  // Had there been one, it would come before this answer.
  head.socket.write('HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n')
  t.equal((await client.response()).status, 417)
})

t.test('a final answer instead of the 100 reaches the client, which need not send its body', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) =>
    socket.write('HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig'),
  )
  const client = await connectProxy(t, backend.url)
  client.send(headOf('PUT / HTTP/1.1', ...ask))
  const { status, body } = await client.response()
  t.strictSame([status, body], [413, 'big'])
  // It may or may not send the body now: the connection can no longer be trusted.
  await client.ended()
})

t.test('a body that comes without waiting for the 100 is passed on', async (t) => {
  let received = ''
  const url = await startRawBackend(t, (socket) => {
    socket.on('data', (data) => {
      received += String(data)
      if (received.endsWith('hello')) socket.write(answerOf('ok'))
    })
  })
  const client = await connectProxy(t, url)
  client.send(`${headOf('PUT / HTTP/1.1', ...ask)}hello`)
  t.equal((await client.response()).body, 'ok')
})

t.test('an Expect other than 100-continue is passed on to the target', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, text }) => {
    socket.write(/\r\nexpect: something/i.test(text) ? answerOf('seen') : answerOf('lost'))
  })
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET / HTTP/1.1', 'Expect: something-else'))
  t.equal((await client.response()).body, 'seen')
})

t.test('unread 1xx answers put backpressure on the target', async (t) => {
  let written = 0
  const url = await startRawBackend(t, (socket) => {
    const early = `HTTP/1.1 103 Early Hints\r\nLink: <${'a'.repeat(4_000)}>\r\n\r\n`.repeat(16)
    const write = () => {
      while (!socket.destroyed && written < 200_000_000) {
        written += early.length
        if (!socket.write(early)) return
      }
    }
    socket.on('error', () => {}).on('drain', write)
    socket.once('data', write)
  })
  const client = await connectProxy(t, url)
  client.socket.pause()
  client.send(headOf('GET / HTTP/1.1'))
  const counts: number[] = []
  await until('no more is taken', () => {
    counts.push(written)
    return written > 0 && counts.length > 60 && counts.at(-60) === written
  })
  t.ok(written < 100_000_000, `${written} bytes were taken for a client that reads nothing`)
})
