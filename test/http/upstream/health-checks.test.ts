import t, { type Test } from 'tap'
import type { ActiveCheckOptions } from '#http/upstream/health.ts'
import type { HealthChange } from '#http/upstream/target-set.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import { startBackend, startServer } from '../../setup/backend.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { freePort, until } from '../../setup/net.ts'
import { recordThrownErrors } from '../../setup/record-thrown-errors.ts'
import { answerOf, startHeadBackend, startTlsBackend } from '../outgoing/backends.ts'
import { exchange, openTestUpstream, request } from '../outgoing/exchange.ts'

/** An upstream whose targets are asked for /healthz again and again. */
function openChecked(
  t: Test,
  urls: string | readonly string[],
  terms: Partial<UpstreamConfig> & { readonly active?: Partial<ActiveCheckOptions> } = {},
) {
  const { active, ...others } = terms
  const changes: HealthChange[] = []
  const health = {
    active: {
      path: '/healthz',
      intervalMs: 20,
      timeoutMs: 2_000,
      unhealthyAfter: 2,
      healthyAfter: 2,
      ...active,
    },
    passive: undefined,
  }
  const upstream = openTestUpstream(
    t,
    urls,
    { health, ...others },
    { onHealthChange: (change) => changes.push(change) },
  )
  return { upstream, changes }
}

t.test("a health check is a plain GET of the path, with the target's Host", async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.end(answerOf('ok')))
  openChecked(t, backend.url, { active: { path: '/healthz?deep=1' } })
  const { text } = await until('it is checked', () => backend.heads[0])
  t.equal(
    text,
    [
      'GET /healthz?deep=1 HTTP/1.1',
      `Host: ${new URL(backend.url).host}`,
      'User-Agent: gatehouse',
      'Accept: */*',
      'Connection: close',
    ].join('\r\n'),
  )
})

t.test('a health check passes on 2xx and 3xx, and fails on any other status', async (t) => {
  for (const [status, isGood] of [
    [200, true],
    [204, true],
    [302, true],
    [399, true],
    [400, false],
    [404, false],
    [500, false],
    [503, false],
  ] as const) {
    let checks = 0
    const url = await startServer(t, (_request, response) => {
      checks++
      response.writeHead(status).end()
    })
    const { changes } = openChecked(t, url)
    await until('it is checked', () => checks >= 4 || undefined)
    const expected = isGood ? [] : [{ target: url, isHealthy: false, reason: new RegExp(`${status}$`) }]
    t.match(changes, expected, String(status))
    t.equal(changes.length, expected.length, String(status))
  }
})

t.test('a target that refuses connections, is silent or sends nonsense fails its checks', async (t) => {
  const silent = await startHeadBackend(t, () => {})
  const wrong = await startHeadBackend(t, ({ socket }) => socket.end('SSH-2.0-OpenSSH_9.2\r\n\r\n'))
  for (const [url, reason] of [
    [`http://127.0.0.1:${await freePort()}`, /connect-failed/],
    [silent.url, /no response within 50 ms/],
    [wrong.url, /invalid-response/],
  ] as const) {
    const { upstream, changes } = openChecked(t, url, { active: { timeoutMs: 50 } })
    const change = await until('it is out', () => changes[0])
    t.match(change, { upstream: 'backend', target: url, isHealthy: false, reason })
    t.strictSame(exchange(upstream).events, ['no-target'])
  }
})

t.test('a target whose checks pass again gets requests without a trial', async (t) => {
  let isWell = false
  const sick = await startBackend(t, (_request, response) => {
    response.writeHead(isWell ? 200 : 500).end('sick')
  })
  const well = await startBackend(t)
  const { upstream, changes } = openChecked(t, [sick.url, well.url])
  await until('it is out', () => changes[0])
  for (let turn = 0; turn < 10; turn++) t.equal((await request(upstream)).body, 'ok')
  isWell = true
  t.match(await until('it is back', () => changes[1]), { target: sick.url, isHealthy: true })
  const bodies = [await request(upstream), await request(upstream)].map(({ body }) => body)
  t.strictSame(bodies.toSorted(), ['ok', 'sick'])
})

t.test('a health check fails on an untrusted certificate, and passes on a trusted one', async (t) => {
  const certificate = makeCertificate(t, 'IP:127.0.0.1')
  const backend = await startTlsBackend(t, certificate)
  const url = `https://127.0.0.1:${backend.port}`
  const { changes } = openChecked(t, url)
  t.match(await until('it is out', () => changes[0]), { reason: /self-signed/ })
  const trusting = openChecked(t, url, { tls: { verify: true, ca: certificate.cert } })
  const before = backend.countConnections()
  await until('it is checked', () => backend.countConnections() > before + 3 || undefined)
  t.strictSame(trusting.changes, [])
})

t.test('health checks of a target never overlap', async (t) => {
  let open = 0
  let most = 0
  const backend = await startHeadBackend(t, ({ socket }) => {
    open++
    most = Math.max(most, open)
    socket.on('close', () => open--)
  })
  openChecked(t, backend.url, { active: { intervalMs: 10, timeoutMs: 60, unhealthyAfter: 100 } })
  await until('it is checked again and again', () => backend.heads.length >= 6 || undefined)
  // The end of a connection reaches its other side a moment later than the next is begun.
  t.ok(most <= 2, `${most} at once`)
})

t.test('a health check passes on an endless answer, read no further than needed', async (t) => {
  let sent = 0
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    const chunk = `4000\r\n${'x'.repeat(16_384)}\r\n`
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk)) sent++
    }
    socket.on('drain', pour)
    pour()
  })
  const { changes } = openChecked(t, backend.url, { active: { intervalMs: 1_000 } })
  const socket = await until('it is checked', () => backend.sockets[0])
  await until('it is closed', () => socket.closed || undefined)
  t.ok(sent < 1_000, `${sent} pieces`)
  t.strictSame(changes, [])
})

t.test('a health check that abandons a long body reports no error', async (t) => {
  const errors = recordThrownErrors(t)
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 900000\r\n\r\n${'x'.repeat(300_000)}`)
  })
  openChecked(t, backend.url)
  for (let index = 0; index < 3; index++) {
    const socket = await until('it is checked', () => backend.sockets[index])
    await until('it is given up', () => socket.closed || undefined)
  }
  t.strictSame(
    errors.filter((error) => error.startsWith('TypeError')),
    [],
  )
})

t.test('health checks use connections beyond those of requests', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/healthz') socket.end(answerOf('ok'))
  })
  const { upstream, changes } = openChecked(t, backend.url, { connectionsMax: 1 })
  const held = exchange(upstream, { path: '/held' })
  await until(
    'it is checked',
    () => backend.heads.filter(({ path }) => path === '/healthz').length >= 4 || undefined,
  )
  t.strictSame(changes, [])
  held.call.cancel()
})

t.test('health checks of several targets are spread over the interval', async (t) => {
  const begun = performance.now()
  const seenAt: number[] = []
  const urls = await Promise.all(
    [1, 2, 3, 4].map(() =>
      startServer(t, (_request, response) => {
        seenAt.push(performance.now() - begun)
        response.end()
      }),
    ),
  )
  openChecked(t, urls, { active: { intervalMs: 1_000 } })
  await until('the last is checked', () => seenAt.length >= 4 || undefined)
  // Each has a quarter of its own, so between the first and the last are two quarters at least.
  t.ok((seenAt[3] ?? 0) - (seenAt[0] ?? 0) >= 300, seenAt.join(' '))
})

t.test('closing an upstream ends its health checks, those in flight too', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const { upstream, changes } = openChecked(t, backend.url, { active: { timeoutMs: 10_000 } })
  const socket = await until('it is checked', () => backend.sockets[0])
  upstream.close()
  await until('it is aborted', () => socket.closed || undefined)
  // Another upstream, opened later, is checked several times meanwhile.
  const other = await startHeadBackend(t, ({ socket }) => socket.end(answerOf('ok')))
  openChecked(t, other.url)
  await until('the other is checked', () => other.heads.length >= 5 || undefined)
  t.equal(backend.heads.length, 1)
  t.strictSame(changes, [])
})

t.test('a target listed twice is checked once an interval, and ejected as one', async (t) => {
  const seenAt: number[] = []
  const backend = await startHeadBackend(t, ({ socket }) => {
    seenAt.push(performance.now())
    socket.end('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n')
  })
  const { upstream, changes } = openChecked(t, [backend.url, backend.url], { active: { intervalMs: 200 } })
  await until('it is checked', () => seenAt.length >= 4 || undefined)
  // Three intervals lie between them; were both checked it would be two at most.
  const between = (seenAt[3] ?? 0) - (seenAt[0] ?? 0)
  t.ok(between > 450, `${between} ms`)
  t.equal(changes.length, 1)
  t.strictSame(exchange(upstream).events, ['no-target'])
})
