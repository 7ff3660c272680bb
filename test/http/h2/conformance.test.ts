import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { HpackDecoder } from '#http/h2/hpack/decoder.ts'
import { startServer } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { type Case, get } from './conformance/case.ts'
import { controlCases } from './conformance/control-cases.ts'
import { frameCases } from './conformance/frame-cases.ts'
import { messageCases } from './conformance/message-cases.ts'
import { streamCases } from './conformance/stream-cases.ts'
import { createFrameReader, type Frame, frame, frameTypes, settingsPayload } from './frames.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const endStream = 0x1
/** Higher than those of all cases. */
const lastId = 1_001

/** What the gateway has said. */
interface Heard {
  readonly frames: readonly Frame[]
  readonly statuses: ReadonlyMap<number, string>
  hasEnded(streamId: number): boolean
  goaway(): number | undefined
  /** Streams and codes. */
  resets(): readonly (readonly [streamId: number, code: number])[]
}

async function connectTo(t: Test, url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const frames: Frame[] = []
  const statuses = new Map<number, string>()
  const decoder = new HpackDecoder()
  socket.on(
    'data',
    createFrameReader((one) => {
      frames.push(one)
      if (one.type !== frameTypes.headers) return
      const fields: string[] = []
      decoder.decode(one.payload, fields, 65_536)
      statuses.set(one.streamId, fields[1] ?? '')
    }),
  )
  const of = (type: number) => frames.filter((one) => one.type === type)
  const heard: Heard = {
    frames,
    statuses,
    hasEnded: (id) =>
      frames.some(({ type, flags, streamId }) => type < 2 && streamId === id && (flags & endStream) !== 0),
    goaway: () => of(frameTypes.goaway).at(-1)?.payload.readUInt32BE(4),
    resets: () =>
      of(frameTypes.resetStream).map(({ streamId, payload }) => [streamId, payload.readUInt32BE(0)] as const),
  }
  return { socket, heard }
}

/** What came of a case, in words. */
async function outcomeOf(t: Test, url: string, { send, isBare = false, expected }: Case): Promise<string> {
  const { socket, heard } = await connectTo(t, url)
  if (!isBare) socket.write(Buffer.concat([preface, frame('settings', 0, 0, settingsPayload([]))]))
  for (const step of send) {
    if (step === 'answer') await until('the answer', () => heard.hasEnded(1) || socket.destroyed)
    else socket.write(step)
  }
  const closed = () => socket.destroyed || undefined
  if (expected !== 'ignored' && 'goaway' in expected) {
    await until('the end of the connection', closed)
    return `GOAWAY ${heard.goaway()}`
  }
  if (expected !== 'ignored' && 'status' in expected) {
    const what = await until('an answer', () => heard.hasEnded(1) || heard.resets().length > 0 || closed())
    if (what !== undefined && !heard.hasEnded(1)) return describe(heard)
  }
  socket.write(get(lastId))
  await until(
    'the last request is answered, or the connection ends',
    () => heard.hasEnded(lastId) || closed(),
  )
  return describe(heard)
}

function describe(heard: Heard): string {
  if (heard.goaway() !== undefined) return `GOAWAY ${heard.goaway()}`
  const resets = heard.resets().map(([id, code]) => `RST_STREAM ${id} ${code}`)
  const status = heard.statuses.get(1)
  const isUsable = heard.statuses.get(lastId) === '200'
  return [
    ...resets,
    ...(status === undefined ? [] : [`status ${status}`]),
    isUsable ? 'usable' : 'dead',
  ].join(', ')
}

function isAsExpected(outcome: string, expected: Case['expected']): boolean {
  if (expected === 'ignored') return outcome === 'usable' || outcome === 'status 200, usable'
  if ('goaway' in expected) return outcome === `GOAWAY ${expected.goaway}`
  if ('status' in expected) return outcome === `status ${expected.status}, usable`
  const reset = `RST_STREAM ${expected.streamId ?? 1} ${expected.reset}`
  return outcome === `${reset}, usable` || outcome === `${reset}, status 200, usable`
}

const cases = {
  'frames and field blocks': frameCases,
  'control frames': controlCases,
  streams: streamCases,
  messages: messageCases,
}

for (const [what, ofKind] of Object.entries(cases)) {
  t.test(`${what} that clients send are treated as RFC 9113 says`, async (t) => {
    const backend = await startServer(t, (request, response) => {
      request
        .on('error', () => {})
        .on('end', () => {
          if (request.url !== '/public/silent') response.end('ok')
        })
      request.resume()
    })
    const { url } = await startGateway(t, { backend })
    for (const one of ofKind) {
      const outcome = await outcomeOf(t, url, one)
      const expected = JSON.stringify(one.expected)
      if (isAsExpected(outcome, one.expected)) t.pass(`${one.name} (${one.section}): ${outcome}`)
      else t.fail(`${one.name} (${one.section}): ${outcome} instead of ${expected}`)
    }
  })
}

t.test('a PING is answered with its payload, once', async (t) => {
  const { url } = await startGateway(t)
  const { socket, heard } = await connectTo(t, url)
  const payload = Buffer.from([1, 2, 3, 4, 5, 6, 7, 255])
  socket.write(Buffer.concat([preface, frame('settings', 0, 0), frame('ping', 0, 0, payload)]))
  const pings = () => heard.frames.filter(({ type }) => type === frameTypes.ping)
  await until('the answer', () => pings()[0])
  socket.write(frame('ping', 0, 0, Buffer.alloc(8)))
  await until('another answer', () => pings()[1])
  t.strictSame(
    pings().map((one) => [one.flags, one.streamId, one.payload.toString('hex')]),
    [
      [1, 0, payload.toString('hex')],
      [1, 0, '0'.repeat(16)],
    ],
  )
})

t.test('SETTINGS come first, and those of the client are acknowledged once each', async (t) => {
  const { url } = await startGateway(t)
  const { socket, heard } = await connectTo(t, url)
  const three = [1, 2, 3].map(() => frame('settings', 0, 0))
  socket.write(Buffer.concat([preface, ...three, frame('ping', 0, 0, Buffer.alloc(8))]))
  await until('all are read', () => heard.frames.some(({ type }) => type === frameTypes.ping) || undefined)
  t.strictSame([heard.frames[0]?.type, heard.frames[0]?.flags], [frameTypes.settings, 0])
  const settings = heard.frames.filter(({ type }) => type === frameTypes.settings)
  t.strictSame(
    settings.map(({ flags, payload }) => (flags === 1 ? payload.length : 'own')),
    ['own', 0, 0, 0],
  )
})

t.test('each size of the table that SETTINGS name is announced in the next field block', async (t) => {
  const { url } = await startGateway(t)
  const { socket, heard } = await connectTo(t, url)
  const headerTableSize = 1
  const sizes = [0, 4_096].map((size) => [headerTableSize, size] as const)
  socket.write(Buffer.concat([preface, frame('settings', 0, 0, settingsPayload(sizes)), get(1)]))
  await until('the answer', () => heard.hasEnded(1))
  const block = heard.frames.find(({ type }) => type === frameTypes.headers)?.payload.toString('hex')
  // 0, then 4,096 (RFC 7541 4.2, 6.3).
  t.match(block, /^203fe11f/)
})
