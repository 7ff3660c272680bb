import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { OpenConnection } from '#http/client-exchange.ts'
import { NameTable } from '#http/message/name-table.ts'
import { createSessionOpener } from '#http/server/h2/client-session.ts'
import { DeadlineSweep } from '#platform/deadline-sweep.ts'
import { portOf, until } from '../../setup/net.ts'
import { post, resetOf, roundTrip } from './flow.ts'
import { createFrameReader, frame, frameTypes, openRawSession } from './frames.ts'

const noError = 0
const frameBytes = 16_384
const gibibyte = 1_073_741_824

/** A session that answers each request at its head, and is swept when it is told to. */
async function start(t: Test) {
  const connections = { sweptAt: performance.now() }
  const opener = createSessionOpener({
    keepAliveTimeoutMs: 60_000,
    headBytesMax: 16_384,
    streamsMax: 100,
    bodyRateMin: 1,
    connections,
    bodies: new DeadlineSweep(500),
    names: () => new NameTable([]),
    requestTimeoutMs: 30_000,
    isTrustedProxy: () => false,
    isDraining: () => false,
    onRequest: (exchange) => {
      exchange.respond(401, '', 'Content-Length: 7\r\n', 'counted')
      exchange.end('refused')
    },
    onUnreadable: (exchange) => exchange.abort(),
    onEnd: () => {},
    onSessionError: () => {},
  })
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const raw = await openRawSession(t, `http://127.0.0.1:${portOf(server)}`)
  const [socket] = (await accepted) as [Socket]
  t.teardown(() => socket.destroy())
  const session: OpenConnection = opener.open(socket, '127.0.0.1', undefined)
  const sweep = (now: number) => {
    connections.sweptAt = now
    session.expire(now)
  }
  return { raw, sweep }
}

/** It is reset when it is due, and not at a time before. */
async function resetBetween(
  t: Test,
  { raw, sweep }: Awaited<ReturnType<typeof start>>,
  before: number,
  due: number,
) {
  sweep(before)
  await roundTrip(raw)
  t.equal(resetOf(raw, 1), undefined)
  sweep(due)
  await until('it is reset', () => resetOf(raw, 1) !== undefined)
  t.equal(resetOf(raw, 1), noError)
}

t.test('a client that goes on sending after its response is reset after 30 s', async (t) => {
  const session = await start(t)
  const { raw, sweep } = session
  const before = performance.now()
  post(raw, 1, '/')
  await until('it is answered', () => raw.ended.includes(1))
  const after = performance.now()
  for (let ms = 0; ms < 30_000; ms += 1_000) {
    sweep(before + ms)
    raw.socket.write(frame('data', 0, 1, Buffer.from('x')))
    await roundTrip(raw)
  }
  await resetBetween(t, session, before + 29_999, after + 30_000)
})

t.test('a client that pauses after its response is reset after 2 s', async (t) => {
  const session = await start(t)
  const { raw, sweep } = session
  post(raw, 1, '/')
  await until('it is answered', () => raw.ended.includes(1))
  const answered = performance.now()
  sweep(answered + 1_000)
  raw.socket.write(frame('data', 0, 1, Buffer.from('x')))
  await roundTrip(raw)
  await resetBetween(t, session, answered + 2_999, answered + 3_000)
})

t.test('a client that sends more than 1 GiB after its response is reset', async (t) => {
  const { raw } = await start(t)
  post(raw, 1, '/')
  await until('it is answered', () => raw.ended.includes(1))
  const piece = frame('data', 0, 1, Buffer.alloc(frameBytes))
  let [sent, window] = [0, 262_144]
  const send = () => {
    for (; sent + frameBytes <= window; sent += frameBytes) raw.socket.write(piece)
  }
  const read = createFrameReader(({ type, streamId, payload }) => {
    if (type === frameTypes.windowUpdate && streamId === 1) window += payload.readUInt32BE(0)
    send()
  })
  raw.socket.on('data', read)
  send()
  await until('it is reset', () => resetOf(raw, 1) !== undefined)
  t.equal(resetOf(raw, 1), noError)
  t.ok(sent > gibibyte, `after ${sent} bytes`)
})
