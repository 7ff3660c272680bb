import { Socket } from 'node:net'
import fc from 'fast-check'
import { FrameConnection } from '#http/h2/framing/frame-connection.ts'
import type { FrameStream } from '#http/h2/framing/frame-stream.ts'
import { HpackDecoder } from '#http/h2/hpack/decoder.ts'
import { HpackEncoder } from '#http/h2/hpack/encoder.ts'
import { CompressionError } from '#http/h2/hpack/tables.ts'
import { readFrames } from '../../http/h2/framing/read-frames.ts'
import { assertSame, cut, cuts } from '../pieces.ts'
import { type Property, property } from '../property.ts'

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))

const fields = fc.array(
  fc.tuple(
    fc.constantFrom(':status', 'vary', 'server', 'cookie', 'x-any', 'etag'),
    fc.constantFrom('', 'a', '200', 'v'.repeat(100), 'w'.repeat(200)),
  ),
  { maxLength: 8 },
)

interface Mutation {
  readonly at: number
  readonly byte: number
  readonly kind: 'change' | 'insert' | 'delete' | 'cut'
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(500),
  byte: fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x7f, 0x80, 0xff, 0x20, 0x3f)),
  kind: fc.constantFrom('change', 'insert', 'delete', 'cut'),
})

function mutated(bytes: Buffer, mutations: readonly Mutation[]): Buffer {
  return mutations.reduce((before, { at, byte, kind }) => {
    const start = before.length === 0 ? 0 : at % before.length
    const end = kind === 'insert' ? start : kind === 'cut' ? before.length : start + 1
    const put = kind === 'change' || kind === 'insert' ? [byte] : []
    return Buffer.concat([before.subarray(0, start), Buffer.from(put), before.subarray(end)])
  }, bytes)
}

/** Blocks that follow each other: some as an encoder writes them, some changed, some of any bytes. */
const blocks = fc.array(
  fc.oneof(
    fc.tuple(fields, fc.array(mutation, { maxLength: 3 })),
    bytes(60).map((any) => [any, []] as const),
  ),
  { maxLength: 8 },
)

type Blocks = typeof blocks extends fc.Arbitrary<infer Value> ? Value : never

function encodedBlocks(list: Blocks): readonly Buffer[] {
  const encoder = new HpackEncoder()
  return list.map(([what, mutations]) => {
    if (Buffer.isBuffer(what)) return what
    encoder.begin()
    for (const [name, value] of what) encoder.add(name, value)
    return mutated(Buffer.from(encoder.end()), mutations)
  })
}

/** Decodes until something is wrong. */
function isDecodedWithin(list: Blocks, sizeMax: number): boolean {
  const decoder = new HpackDecoder()
  try {
    for (const block of encodedBlocks(list)) {
      const fields: string[] = []
      const isWhole = decoder.decode(block, fields, sizeMax)
      const size = fields.join('').length + 16 * fields.length
      if (size > sizeMax || fields.length % 2 !== 0 || (!isWhole && block.length === 0)) return false
    }
  } catch (error) {
    return error instanceof CompressionError
  }
  return true
}

function frameBytes(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  return Buffer.from([
    ...[0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, streamId],
    ...payload,
  ])
}

/** `GET /` and `POST /` over HTTP, without an authority. */
const heads = [Buffer.from([0x82, 0x84, 0x86]), Buffer.from([0x83, 0x84, 0x86])]
const setting = fc
  .tuple(fc.integer({ min: 0, max: 9 }), fc.constantFrom(0, 1, 2, 100, 65_535, 2 ** 31 - 1, 2 ** 31))
  .map(([name, value]) => Buffer.from([0, name, value >>> 24, value >>> 16, value >>> 8, value]))
const increment = fc
  .constantFrom(0, 1, 1_000, 2 ** 31 - 1)
  .map((value) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]))
const streamId = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(1, 3, 5) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 9 }) },
)
const flags = fc.constantFrom(0, 0, 1, 4, 5, 5, 8, 9, 0x24, 0x2d)

/** Frames that a client may send, or nearly. */
const likelyFrame = fc.oneof(
  fc
    .tuple(fc.constantFrom(0x4, 0x5), fc.constantFrom(1, 3, 5, 7, 9), fc.constantFrom(...heads))
    .map(([flags, id, head]) => frameBytes(1, flags, id, head)),
  fc.tuple(flags, streamId, bytes(40)).map(([flags, id, data]) => frameBytes(0, flags, id, data)),
  setting.map((payload) => frameBytes(4, 0, 0, payload)),
  fc.tuple(streamId, increment).map(([id, payload]) => frameBytes(8, 0, id, payload)),
  fc.tuple(streamId, increment).map(([id, payload]) => frameBytes(3, 0, id, payload)),
)
const anyFrame = fc
  .tuple(fc.integer({ min: 0, max: 11 }), flags, streamId, bytes(20))
  .map(([type, flags, id, payload]) => frameBytes(type, flags, id, payload))
const someFrame = fc.oneof(
  { weight: 18, arbitrary: likelyFrame },
  { weight: 1, arbitrary: anyFrame },
  { weight: 1, arbitrary: bytes(12) },
)

const begin = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frameBytes(4, 0, 0, Buffer.alloc(0)),
])
const opened = Buffer.concat([
  begin,
  ...[1, 3, 5].map((id) => frameBytes(1, 4, id, Buffer.from([0x83, 0x84, 0x86]))),
])
const beginning = fc.constantFrom(Buffer.alloc(0), begin, opened, opened, opened)
const streamsMax = 3

/** Answers some streams at once, reads some, resets one kind, and leaves others. */
function serve(stream: FrameStream): void {
  stream.events = {
    onHead: () => {},
    onData: () => {},
    isReleased: () => true,
    onEnd: () => {},
    onDrain: () => {},
    onEndSent: () => {},
    onClose: () => {},
  }
  if (stream.id % 4 === 1) stream.body.resume()
  if (stream.id === 5) {
    stream.reset(8)
    return
  }
  stream.sendHead((encoder) => encoder.add(':status', '200'), false)
  stream.write(Buffer.alloc(3_000))
  if (stream.id === 3) stream.end()
}

/** Feeds a server's connection, whose socket is connected to nothing. */
function survives(pieces: readonly Buffer[]): boolean {
  const socket = new Socket()
  const connection = new FrameConnection(
    socket,
    {
      isServer: true,
      settings: { initialWindowSize: 100, maxConcurrentStreams: streamsMax },
      windowBytes: 65_535,
      streamsMax,
      headSizeMax: () => 1_000,
    },
    {
      onStream: serve,
      onSettings: () => {},
      onGoaway: () => {},
      onPing: () => {},
      onClose: () => {},
    },
  )
  let most = 0
  for (const piece of pieces) {
    connection.receive(piece)
    most = Math.max(most, connection.streams.size)
  }
  socket.destroy()
  return most <= streamsMax
}

export const http2Properties: readonly Property[] = [
  property(
    'any field blocks of HTTP/2 are decoded within their limit, or are a CompressionError',
    fc.tuple(blocks, fc.constantFrom(0, 100, 1_000, 100_000)),
    ([list, sizeMax]) => isDecodedWithin(list, sizeMax),
  ),
  property(
    'any bytes are frames of HTTP/2 or a ConnectionError, however they are cut',
    fc.tuple(fc.array(someFrame, { maxLength: 10 }), cuts),
    ([list, lengths]) => {
      const all = Buffer.concat(list)
      assertSame(readFrames(cut(all, lengths)), readFrames([all]))
    },
  ),
  property(
    'a connection of HTTP/2 takes any frames without an error of its own, and no more streams than it may',
    fc.tuple(fc.array(someFrame, { maxLength: 40 }), beginning, cuts),
    ([list, before, lengths]) => survives(cut(Buffer.concat([before, ...list]), lengths)),
  ),
]
