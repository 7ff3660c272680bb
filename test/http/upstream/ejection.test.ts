import t, { type Test } from 'tap'
import type { PassiveCheckOptions } from '#http/upstream/health.ts'
import type { HealthChange } from '#http/upstream/target-set.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import { startBackend } from '../../setup/backend.ts'
import { freePort, until } from '../../setup/net.ts'
import { answerOf, startHeadBackend } from '../outgoing/backends.ts'
import { type Asked, exchange, openTestUpstream, request } from '../outgoing/exchange.ts'

/** An upstream whose targets are ejected for a minute after two failures, on a clock of the test. */
function openWatched(
  t: Test,
  urls: string | readonly string[],
  terms: Partial<UpstreamConfig> & { readonly passive?: Partial<PassiveCheckOptions> } = {},
) {
  const { passive, ...others } = terms
  const changes: HealthChange[] = []
  const time = { now: 0 }
  const health = {
    active: undefined,
    passive: { maxFailures: 2, windowMs: 10_000, ejectForMs: 60_000, ...passive },
  }
  const upstream = openTestUpstream(
    t,
    urls,
    { health, ...others },
    { monotonic: () => time.now, onHealthChange: (change) => changes.push(change) },
  )
  return { upstream, changes, time }
}

async function reasonOf(upstream: ReturnType<typeof openTestUpstream>, asked?: Asked): Promise<string> {
  return (await exchange(upstream, asked).failure).reason
}

t.test('every kind of target failure counts towards ejection, and then requests fail at once', async (t) => {
  const refusing = `http://127.0.0.1:${await freePort()}`
  const silent = await startHeadBackend(t, () => {})
  const closing = await startHeadBackend(t, ({ socket }) => socket.destroy())
  const wrong = await startHeadBackend(t, ({ socket }) => socket.write('HTTP/2 200 OK\r\n\r\n'))
  const short = await startHeadBackend(t, ({ socket }) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort'),
  )
  const stalling = await startHeadBackend(t, ({ socket }) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nstall'),
  )
  for (const [url, reason] of [
    [refusing, 'connect-failed'],
    [silent.url, 'response-timeout'],
    [closing.url, 'closed-early'],
    [wrong.url, 'invalid-response'],
    [short.url, 'closed-early'],
    [stalling.url, 'idle-timeout'],
  ] as const) {
    const { upstream, changes } = openWatched(t, url, { responseTimeoutMs: 100, idleTimeoutMs: 100 })
    t.equal(await reasonOf(upstream), reason)
    t.strictSame(changes, [], 'not before the last')
    t.equal(await reasonOf(upstream), reason)
    t.match(changes, [{ upstream: 'backend', target: url, isHealthy: false, reason: new RegExp(reason) }])
    const refused = exchange(upstream)
    t.strictSame(refused.events, ['no-target'], 'reported before anything is waited for')
  }
})

t.test("failures that are not the target's fault do not count towards ejection", async (t) => {
  const silent = await startHeadBackend(t, () => {})
  const full = openWatched(t, silent.url, { connectionsMax: 1, connectTimeoutMs: 20 })
  const held = exchange(full.upstream)
  for (let turn = 0; turn < 5; turn++) t.equal(await reasonOf(full.upstream), 'no-connection')
  held.call.cancel()
  const slow = openWatched(t, silent.url, { idleTimeoutMs: 50 })
  for (let turn = 0; turn < 3; turn++)
    t.equal(
      await reasonOf(slow.upstream, { body: 'counted', lines: 'Content-Length: 9\r\n', method: 'POST' }),
      'body-stalled',
    )
  const left = openWatched(t, silent.url)
  for (let turn = 0; turn < 5; turn++) {
    const { call, sent } = exchange(left.upstream)
    await sent
    call.cancel()
  }
  t.strictSame([full.changes, slow.changes, left.changes], [[], [], []])
})

t.test('any status, 500 and 503 included, counts as an answer of the target', async (t) => {
  const backend = await startBackend(t, (request, response) => {
    response.writeHead(Number(request.url?.slice(1))).end()
  })
  const { upstream, changes } = openWatched(t, backend.url)
  for (const status of [500, 502, 503, 504, 500, 404])
    t.equal((await request(upstream, { path: `/${status}` })).head.status, status)
  t.strictSame(changes, [])
})

t.test('an idle connection closed under a request does not count towards ejection', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, turn }) => {
    if (turn === 0) socket.write(answerOf('ok'))
    else socket.destroy()
  })
  const { upstream, changes } = openWatched(t, backend.url)
  for (let turn = 0; turn < 5; turn++) t.equal((await request(upstream)).body, 'ok')
  t.equal(await reasonOf(upstream, { method: 'POST' }), 'closed-early')
  t.strictSame(changes, [])
})

t.test('an ejected target gets no request until its time is over, and then one', async (t) => {
  let isWell = false
  const held: (() => void)[] = []
  const backend = await startHeadBackend(t, ({ socket }) => {
    if (isWell) held.push(() => socket.write(answerOf('ok')))
    else socket.destroy()
  })
  const other = await startBackend(t)
  const { upstream, time, changes } = openWatched(t, [backend.url, other.url], { retryAttempts: 1 })
  for (let turn = 0; turn < 4; turn++) t.equal((await request(upstream)).body, 'ok', 'retried elsewhere')
  t.equal(changes.length, 1)
  isWell = true
  const seen = backend.heads.length
  time.now = 59_999
  for (let turn = 0; turn < 4; turn++) await request(upstream)
  t.equal(backend.heads.length, seen)
  time.now = 60_000
  const answers = Array.from({ length: 6 }, () => request(upstream))
  const answer = await until('it is tried', () => held[0])
  await Promise.all(answers.slice(2))
  t.equal(backend.heads.length, seen + 1, 'one alone')
  answer()
  await Promise.all(answers)
  t.match(changes.at(-1), { target: backend.url, isHealthy: true })
  const further = Array.from({ length: 4 }, () => request(upstream))
  await until('it has its share again', () => held.length === 3 || undefined)
  for (const answer of held.slice(1)) answer()
  await Promise.all(further)
})

t.test('a failed request is retried on healthy targets only', async (t) => {
  const dead = await Promise.all([1, 2].map(async () => `http://127.0.0.1:${await freePort()}`))
  const backend = await startBackend(t)
  const { upstream, changes } = openWatched(t, [...dead, backend.url], {
    retryAttempts: 1,
    passive: { maxFailures: 1 },
  })
  // The first two tries meet both that are dead: the second is not asked again once it is out.
  t.equal(await reasonOf(upstream), 'connect-failed')
  t.equal(changes.length, 2)
  for (let turn = 0; turn < 20; turn++) t.equal((await request(upstream)).body, 'ok')
  t.equal(backend.seen.length, 20)
})

t.test('an ejection fails no request already at the target', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/broken') socket.destroy()
  })
  const { upstream, changes } = openWatched(t, backend.url)
  const slow = exchange(upstream, { path: '/slow' })
  const { socket } = await until('it is asked', () => backend.heads[0])
  for (let turn = 0; turn < 2; turn++) await reasonOf(upstream, { path: '/broken' })
  t.equal(changes.length, 1)
  socket.write(answerOf('slow'))
  t.equal((await slow.answer).body, 'slow')
  t.equal(changes.length, 1, 'and its answer, asked before, does not bring the target back')
  t.equal(await reasonOf(upstream), 'no-target')
})

t.test('an accepted upgrade is an answer, and counts as in flight until it closes', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/ws')
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n')
    else socket.destroy()
  })
  const { upstream, time, changes } = openWatched(t, backend.url)
  for (let turn = 0; turn < 2; turn++) await reasonOf(upstream)
  time.now = 60_000
  const { socket } = await exchange(upstream, { path: '/ws', isUpgrade: true }).upgrade
  t.match(changes.at(-1), { isHealthy: true })
  t.equal(upstream.targets()[0]?.inFlight, 1)
  socket.destroy()
  await until('it is over', () => upstream.targets()[0]?.inFlight === 0 || undefined)
})

t.test('every request leaves the in-flight count, however it ends', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/ok') socket.write(answerOf('ok'))
    else if (path === '/broken') socket.destroy()
  })
  const dead = `http://127.0.0.1:${await freePort()}`
  const upstream = openTestUpstream(t, [backend.url, dead], { retryAttempts: 1, balancing: 'leastRequests' })
  const inFlight = () => upstream.targets().reduce((sum, target) => sum + target.inFlight, 0)
  const cancelled = Array.from({ length: 3 }, () => exchange(upstream, { path: '/silent' }))
  t.equal(inFlight(), 3)
  const ended = ['/ok', '/broken', '/ok', '/broken'].map((path) =>
    exchange(upstream, { path, method: 'POST' }),
  )
  await Promise.allSettled(ended.map(({ answer }) => answer))
  await Promise.all(cancelled.map(({ sent }) => sent))
  t.equal(inFlight(), 3)
  for (const { call } of cancelled) {
    call.cancel()
    call.cancel()
  }
  t.equal(inFlight(), 0)
})

t.test('leastRequests avoids a slow target', async (t) => {
  const slow = await startHeadBackend(t, () => {})
  const fast = await startBackend(t)
  const upstream = openTestUpstream(t, [slow.url, fast.url], { balancing: 'leastRequests' })
  const waiting = [exchange(upstream), exchange(upstream)]
  await until('the slow one has a request', () => slow.heads[0])
  for (let turn = 0; turn < 50; turn++) await request(upstream)
  t.equal(slow.heads.length, 1)
  t.ok(fast.seen.length >= 50)
  for (const { call } of waiting) call.cancel()
})

t.test('ipHash sends a client to the same target', async (t) => {
  const backends = await Promise.all([1, 2, 3].map(() => startBackend(t)))
  const upstream = openTestUpstream(
    t,
    backends.map(({ url }) => url),
    { balancing: 'ipHash' },
  )
  for (let turn = 0; turn < 12; turn++) await request(upstream, { clientAddress: '192.0.2.7' })
  t.strictSame(backends.map(({ seen }) => seen.length).toSorted(), [0, 0, 12])
  for (let client = 0; client < 60; client++) await request(upstream, { clientAddress: `192.0.2.${client}` })
  for (const { seen } of backends) t.ok(seen.length > 0)
})

t.test('failures of one client alone do not eject a target', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/odd') socket.destroy()
    else socket.write(answerOf('ok'))
  })
  const { upstream, changes } = openWatched(t, backend.url)
  const odd = { path: '/odd', clientAddress: '192.0.2.1' }
  for (let turn = 0; turn < 20; turn++) t.equal(await reasonOf(upstream, odd), 'closed-early')
  t.strictSame(changes, [])
  t.equal((await request(upstream, { clientAddress: '192.0.2.2' })).body, 'ok')
})

t.test('refused connections eject a target, even those of one client', async (t) => {
  const { upstream, changes } = openWatched(t, `http://127.0.0.1:${await freePort()}`)
  for (let turn = 0; turn < 2; turn++)
    t.equal(await reasonOf(upstream, { clientAddress: '192.0.2.1' }), 'connect-failed')
  t.equal(changes.length, 1)
})
