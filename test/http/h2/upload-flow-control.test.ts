import type { IncomingMessage, ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { startServer } from '../../setup/backend.ts'
import { collectGarbage } from '../../setup/collect-garbage.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { bodyOf, get, post, resetOf, roundTrip, updatesOf } from './flow.ts'
import { endStream, frame, openRawSession, type RawSession } from './frames.ts'

/** What the gateway lets a client send ahead on one stream. */
const streamWindow = 262_144
const frameBytes = 16_384
const piece = Buffer.alloc(frameBytes, 'u')
const errors = { protocol: 1, flowControl: 3, cancel: 8 } as const

interface Held {
  /** Reads the body, and answers with its length. */
  read(): void
  readonly request: IncomingMessage
}

/** A backend that reads bodies at once, or below /public/held when it is told to. */
async function start(t: Test) {
  const held: Held[] = []
  const backend = await startServer(t, (request, response) => {
    if (request.url !== '/public/held') {
      answerLength(request, response)
      return
    }
    request.on('error', () => {})
    held.push({ request, read: () => answerLength(request, response) })
  })
  const { url } = await startGateway(t, { backend })
  return { session: await openRawSession(t, url), held }
}

function answerLength(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0
  request
    .on('error', () => {})
    .on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    .on('end', () => response.end(String(bytes)))
}

/** Whether the request was; a backend that does not read does not notice. */
function isAborted(one: Held | undefined): boolean {
  one?.request.resume()
  return one?.request.destroyed === true && !one.request.complete
}

/** An upload that sends whenever the windows allow it. */
function createUpload(session: RawSession, id: number) {
  let sent = 0
  const credit = () => streamWindow + updatesOf(session, id) - sent
  return {
    credit,
    sent: () => sent,
    /** @returns whether anything could be sent */
    send: (bytesMax = Number.POSITIVE_INFINITY): boolean => {
      const before = sent
      for (let size = 1; size > 0 && sent < bytesMax; sent += size) {
        size = Math.min(frameBytes, credit(), bytesMax - sent)
        if (size > 0) session.socket.write(frame('data', 0, id, piece.subarray(0, size)))
      }
      return sent > before
    },
    end: () => session.socket.write(frame('data', endStream, id)),
  }
}

/** Sends until nothing more may be sent, whatever buffers there are on the way. */
async function fill(session: RawSession, id: number) {
  const upload = createUpload(session, id)
  let still = 0
  await until('the upload is held back', async () => {
    still = upload.send() ? 0 : still + 1
    await roundTrip(session)
    return still > 20
  })
  return upload
}

t.test('a client can send no more than the window of a body that the backend does not read', async (t) => {
  const { session, held } = await start(t)
  post(session, 1, '/public/held')
  const upload = await fill(session, 1)
  t.equal(upload.credit(), 0)
  t.equal(session.goawayCode(), undefined)

  get(session, 3, '/public/other')
  await until('another request is answered meanwhile', () => session.ended.includes(3))
  post(session, 5, '/public/read')
  const other = createUpload(session, 5)
  await until('another upload goes on, of more than the window of the connection', () => {
    other.send(3_000_000)
    return other.sent() === 3_000_000
  })
  other.end()
  await until('it is answered', () => session.ended.includes(5))
  t.equal(String(bodyOf(session, 5)), '3000000')

  held[0]?.read()
  const whole = upload.sent() + 1_000_000
  await until('the rest is taken once the backend reads', () => {
    upload.send(whole)
    return upload.sent() === whole
  })
  upload.end()
  await until('it is answered', () => session.ended.includes(1))
  t.equal(String(bodyOf(session, 1)), String(whole), 'all has arrived')
})

t.test('one byte more than the window of a stream resets it, and only it', async (t) => {
  const { session, held } = await start(t)
  post(session, 1, '/public/held')
  await fill(session, 1)
  session.socket.write(frame('data', 0, 1, Buffer.from('!')))
  await until('it is reset', () => resetOf(session, 1) !== undefined)
  t.equal(resetOf(session, 1), errors.flowControl)
  await until('the backend finds that it is aborted', () => isAborted(held[0]))
  get(session, 3, '/public/other')
  await until('the connection is still of use', () => session.ended.includes(3))
})

t.test('padding counts for the windows, and is given back though nothing is read', async (t) => {
  const { session } = await start(t)
  post(session, 1, '/public/read')
  const padded = 0x8
  const payload = Buffer.concat([Buffer.from([255]), Buffer.from('x'), Buffer.alloc(255)])
  const frames = Array.from({ length: 5_000 }, () => frame('data', padded, 1, payload))
  session.socket.write(Buffer.concat(frames))
  session.socket.write(frame('data', endStream, 1))
  await until('it is answered', () => session.ended.includes(1))
  t.equal(String(bodyOf(session, 1)), '5000')
  const bytes = frames.length * payload.length
  for (const [id, window] of [
    [0, 1_048_576],
    [1, streamWindow],
  ] as const)
    t.ok(bytes - updatesOf(session, id) <= window / 2, `${updatesOf(session, id)} of ${bytes} on ${id}`)
})

t.test('what waits of an upload is freed when its stream is reset', async (t) => {
  const { session, held } = await start(t)
  const rounds = 10
  const fillAndReset = async (first: number) => {
    for (let id = first; id < first + 2 * rounds; id += 2) {
      const before = held.length
      post(session, id, '/public/held')
      await until('the backend has it', () => held.length > before)
      await fill(session, id)
      session.socket.write(frame('resetStream', 0, id, Buffer.from([0, 0, 0, errors.cancel])))
      await until('the backend finds that it is aborted', () => isAborted(held.at(-1)))
    }
    held.length = 0
    await roundTrip(session)
    return collectGarbage()
  }
  const before = await fillAndReset(1)
  const grown = (await fillAndReset(1 + 2 * rounds)) - before
  t.ok(grown < 1_500_000, `${grown} bytes more after ${rounds} uploads of ${streamWindow} that wait`)
  get(session, 1_001, '/public/other')
  await until('the connection is still of use', () => session.ended.includes(1_001))
})
