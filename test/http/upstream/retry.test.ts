import t from 'tap'
import { startBackend, startCannedBackend } from '../../setup/backend.ts'
import { freePort, until } from '../../setup/net.ts'
import { answerOf, startHeadBackend } from '../outgoing/backends.ts'
import { exchange, openTestUpstream, request } from '../outgoing/exchange.ts'

/** Closes a connection when it gets its second request, as a server does that has just given it up. */
function startForgetful(t: Parameters<typeof startHeadBackend>[0]) {
  return startHeadBackend(t, ({ socket, turn, method }) => {
    if (turn === 0) socket.write(answerOf(method === 'HEAD' ? '' : 'ok'))
    else socket.destroy()
  })
}

t.test('a GET, HEAD, OPTIONS or QUERY on a connection that just died is sent on another', async (t) => {
  for (const method of ['GET', 'HEAD', 'OPTIONS', 'QUERY']) {
    const backend = await startForgetful(t)
    // Not even retries of 0 forbid it: the target has failed nobody.
    const upstream = openTestUpstream(t, backend.url, { retryAttempts: 0 })
    await request(upstream, { method })
    t.equal((await request(upstream, { method })).head.status, 200)
    t.strictSame(
      backend.heads.map(({ connection, turn }) => [connection, turn]),
      [
        [0, 0],
        [0, 1],
        [1, 0],
      ],
    )
  }
})

t.test('a request that may have been processed is never sent twice', async (t) => {
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
    const backend = await startForgetful(t)
    const other = await startBackend(t)
    const upstream = openTestUpstream(t, [backend.url, other.url], { retryAttempts: 3 })
    await request(upstream, { method })
    await request(upstream, { method })
    const { failure } = exchange(upstream, { method })
    t.equal((await failure).reason, 'closed-early', method)
    t.equal(backend.heads.length, 2)
    t.equal(other.seen.length, 1)
  }
})

t.test('a GET or QUERY with a body is never sent twice', async (t) => {
  for (const method of ['GET', 'QUERY']) {
    const backend = await startForgetful(t)
    const upstream = openTestUpstream(t, backend.url)
    await request(upstream)
    const body = { body: 'counted', lines: 'Content-Length: 0\r\n' } as const
    const { call, sent, failure } = exchange(upstream, { method, ...body })
    await sent
    call.finish('')
    t.equal((await failure).reason, 'closed-early')
    t.equal(backend.heads.length, 2)
  }
})

t.test('a retry whose new connection dies too is a failure of the target', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, connection, turn }) => {
    if (connection === 0 && turn === 0) socket.write(answerOf('ok'))
    else socket.destroy()
  })
  const upstream = openTestUpstream(t, backend.url)
  await request(upstream)
  t.equal((await exchange(upstream).failure).reason, 'closed-early')
  t.equal(backend.heads.length, 3)
})

t.test('many dead connections cost one retry, not one for each', async (t) => {
  const backend = await startForgetful(t)
  const upstream = openTestUpstream(t, backend.url)
  await Promise.all(Array.from({ length: 10 }, () => request(upstream)))
  t.equal((await request(upstream)).body, 'ok')
  t.equal(backend.heads.length, 12)
})

t.test('a dead connection is replaced though it was the last one allowed', async (t) => {
  const backend = await startForgetful(t)
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 1, connectTimeoutMs: 1_000 })
  await request(upstream)
  t.equal((await request(upstream)).body, 'ok')
})

t.test(
  'a request refused a connection goes to another target with its whole body, for any method',
  async (t) => {
    const dead = `http://127.0.0.1:${await freePort()}`
    const backend = await startBackend(t)
    const upstream = openTestUpstream(t, [dead, backend.url], { retryAttempts: 1 })
    for (let turn = 0; turn < 4; turn++) {
      const { call, sent, answer, events } = exchange(upstream, {
        method: 'POST',
        body: 'counted',
        lines: 'Content-Length: 5\r\n',
      })
      t.equal((await sent).origin, backend.url)
      call.write(Buffer.from('hello'))
      call.finish('')
      t.equal((await answer).body, 'ok')
      t.strictSame(events, ['sent', 'head', 'data', 'end'])
      t.equal(backend.last().body, 'hello')
    }
  },
)

t.test('no more targets are tried than configured', async (t) => {
  const dead = await Promise.all([1, 2, 3].map(async () => `http://127.0.0.1:${await freePort()}`))
  const backend = await startBackend(t)
  for (const [retryAttempts, isReached] of [
    [0, false],
    [1, false],
    [2, false],
    [3, true],
  ] as const) {
    const upstream = openTestUpstream(t, [...dead, backend.url], { retryAttempts })
    const outcome = await request(upstream).then(
      () => true,
      ({ reason }) => reason,
    )
    t.equal(outcome, isReached || 'connect-failed', `${retryAttempts} attempts`)
  }
})

t.test('a safe request whose answer failed is retried once, on another target', async (t) => {
  const backend = await startBackend(t)
  const broken = await startHeadBackend(t, ({ socket }) => socket.destroy())
  const wrong = await startCannedBackend(
    t,
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
  )
  for (const url of [broken.url, wrong]) {
    const upstream = openTestUpstream(t, [url, backend.url], { retryAttempts: 1 })
    t.equal((await request(upstream)).body, 'ok')
  }
  const upstream = openTestUpstream(t, [broken.url, wrong], { retryAttempts: 1 })
  t.equal((await exchange(upstream).failure).reason, 'invalid-response')
})

t.test('a request is not retried after any part of an answer', async (t) => {
  const backend = await startBackend(t)
  for (const answer of [
    'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart',
    'HTTP/1.1 103 Early Hints\r\n\r\n',
  ]) {
    const broken = await startHeadBackend(t, ({ socket }) => socket.end(answer))
    const upstream = openTestUpstream(t, [broken.url, backend.url], { retryAttempts: 1 })
    t.equal((await exchange(upstream).failure).reason, 'closed-early')
  }
  t.equal(backend.seen.length, 0)
})

t.test('a cancelled request is not retried', async (t) => {
  const backend = await startBackend(t)
  const silent = await startHeadBackend(t, () => {})
  const upstream = openTestUpstream(t, [silent.url, backend.url], { retryAttempts: 1 })
  const { call, events } = exchange(upstream)
  await until('it is asked', () => silent.heads[0])
  call.cancel()
  await until('the connection is gone', () => silent.sockets[0]?.closed || undefined)
  t.strictSame(events, ['sent'])
  t.equal(backend.seen.length, 0)
})

t.test('a repeated GET that has to wait does not get a connection of the dead target', async (t) => {
  let hasDied = false
  const held: (() => unknown)[] = []
  const backend = await startHeadBackend(t, ({ socket, connection, turn }) => {
    if (hasDied && connection > 1) socket.write(answerOf('again'))
    else if (turn === 0) held.push(() => socket.write(answerOf('first')))
    // One ends without an answer, and then the other with its last one.
    else if (connection === 0) held.unshift(() => socket.resetAndDestroy())
    else held.push(() => socket.end(answerOf('last')))
    if (hasDied || held.length < 2) return
    hasDied = turn === 1
    for (const next of held.splice(0)) next()
  })
  const upstream = openTestUpstream(t, backend.url, { connectionsMax: 2 })
  const two = async () => (await Promise.all([request(upstream), request(upstream)])).map(({ body }) => body)
  t.strictSame(await two(), ['first', 'first'])
  t.strictSame((await two()).toSorted(), ['again', 'last'])
})
