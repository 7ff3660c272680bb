import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runClient, tempFolder } from '../../fidelity/clients/client-gateway.ts'
import { startServer } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { without } from '../../setup/missing-program.ts'
import { until } from '../../setup/net.ts'
import { post, postBlock, resetOf, roundTrip, updatesOf, widen } from './flow.ts'
import { endHeaders, endStream, frame, frameTypes, openRawSession, uint32 } from './frames.ts'

/** Responses that are complete before the body of their request is. */

const frameBytes = 16_384
const codes = { noError: 0, streamClosed: 5, refusedStream: 7, cancel: 8 } as const

/** Paths that are refused before a byte of the body is read. */
const refusals: readonly (readonly [path: string, status: number])[] = [
  ['/any/x', 401],
  ['/nowhere', 404],
  ['/small/x', 413],
]

async function start(t: Test, config = {}) {
  // It answers at the head.
  const backend = await startServer(t, (request, response) => {
    request.on('error', () => {}).resume()
    response.end('early')
  })
  const limited = { upstream: 'backend', auth: 'none', maxBody: '1KiB' }
  const routes = [
    { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
    { name: 'small', path: '/small', ...limited },
    { name: 'public', path: '/public', ...limited, maxBody: 'unlimited' },
  ]
  const gateway = await startGateway(t, { backend, config: { routes, ...config } })
  return { gateway, session: await openRawSession(t, gateway.url) }
}

for (const bytes of [70_000, 2_000_000]) {
  t.test(`curl reads why its body of ${bytes} bytes is refused`, { skip: without('curl') }, async (t) => {
    const { gateway } = await start(t)
    const root = tempFolder(t)
    writeFileSync(join(root, 'body'), Buffer.alloc(bytes, 'b'))
    const options = ['-s', '-o', '/dev/null', '-w', '%{http_code} exit=%{exitcode}', '--data-binary', '@body']
    for (const version of ['--http1.1', '--http2-prior-knowledge'])
      for (const [path, status] of refusals) {
        const { stdout } = await runClient('curl', [version, ...options, gateway.url + path], { cwd: root })
        t.equal(stdout, `${status} exit=0`, `${version} ${path}`)
      }
  })
}

const uploads: readonly (readonly [path: string, fields: readonly (readonly [string, string])[]])[] = [
  ['/any/x', []],
  ['/nowhere', []],
  ['/public/x', []],
  ['/any/of.grpc', [['content-type', 'application/grpc']]],
]

t.test('a body that goes on after its response ends the stream without a reset, in its window', async (t) => {
  const { session } = await start(t)
  for (const [index, [path, fields]] of uploads.entries()) {
    const id = 2 * index + 1
    session.socket.write(frame('headers', endHeaders, id, postBlock(path, fields)))
    await until(`${path} is answered`, () => session.ended.includes(id))
    const piece = frame('data', 0, id, Buffer.alloc(frameBytes))
    let sent = 0
    await until(`${path}: more than its window is taken`, async () => {
      for (; sent + frameBytes <= 262_144 + updatesOf(session, id); sent += frameBytes)
        session.socket.write(piece)
      await roundTrip(session)
      return sent > 1_000_000
    })
    session.socket.write(frame('data', endStream, id))
    await roundTrip(session)
    t.equal(resetOf(session, id), undefined, `${path}: no reset`)
    session.socket.write(frame('data', endStream, id))
    await until(`${path}: the stream is closed`, () => resetOf(session, id) === codes.streamClosed)
  }
  t.equal(session.goawayCode(), undefined)
})

t.test('what waits of a body when its response ends is given back to its window', async (t) => {
  const { session } = await start(t)
  // Head and body at once, so that some of the body waits while the request is decided about.
  const pieces = Array.from({ length: 12 }, () => frame('data', 0, 1, Buffer.alloc(frameBytes)))
  session.socket.write(Buffer.concat([frame('headers', endHeaders, 1, postBlock('/any/x')), ...pieces]))
  await until('it is answered', () => session.ended.includes(1))
  await until('it is given back', () => updatesOf(session, 1) >= 131_072)
})

t.test('a client that sends nothing more after its response is reset with NO_ERROR', async (t) => {
  const { session } = await start(t)
  const begun = performance.now()
  post(session, 1, '/any/x')
  await until('it is answered', () => session.ended.includes(1))
  await until('it is reset', () => resetOf(session, 1) !== undefined)
  const ms = performance.now() - begun
  t.equal(resetOf(session, 1), codes.noError)
  t.ok(ms > 1_000 && ms < 10_000, `after ${ms} ms`)
})

t.test('streams that are answered count for limits.streams until their bodies end', async (t) => {
  const { session } = await start(t, { limits: { streams: 3 } })
  for (const id of [1, 3, 5]) post(session, id, '/any/x')
  await until('three are answered', () => session.ended.length === 3)
  post(session, 7, '/any/x')
  await until('the fourth is refused', () => resetOf(session, 7) === codes.refusedStream)
  session.socket.write(frame('data', endStream, 3))
  post(session, 9, '/any/x')
  await until('one that takes the place of another is answered', () => session.ended.includes(9))
})

t.test('3,000 calls that their client resets after a refusal do not end its connection', async (t) => {
  const { session } = await start(t)
  const count = 3_000
  widen(session, 0, 10_000_000)
  for (let index = 0; index < count; index++) {
    const id = 2 * index + 1
    post(session, id, '/any/x')
    if (index % 50 !== 49) continue
    await until('they are answered', () => session.ended.includes(id) || session.socket.destroyed)
    for (let ago = 0; ago < 100; ago += 2)
      session.socket.write(frame('resetStream', 0, id - ago, uint32(codes.cancel)))
  }
  await roundTrip(session)
  t.equal(session.goawayCode(), undefined)
  t.equal(session.received.get(frameTypes.headers), count)
})
