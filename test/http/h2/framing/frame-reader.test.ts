import fc from 'fast-check'
import t from 'tap'
import { assertSame, cut, cuts } from '../../../fuzz/pieces.ts'
import { hex } from '../hpack/hex.ts'
import { type ReadFrame, readFrames } from './read-frames.ts'

const seed = 9_113
const padded = 0x8
const endStream = 0x1

interface SentFrame {
  readonly bytes: Buffer
  readonly read: ReadFrame
}

function frameBytes(type: number, flags: number, streamId: number, payload: Buffer, reserved = 0): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(streamId + reserved, 5)
  return Buffer.concat([head, payload])
}

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array))
const streamId = fc.oneof(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 2 ** 31 - 1 }))
const reserved = fc.constantFrom(0, 0, 0, 2 ** 31)
/** Mostly short, so that there are many; now and then as long as allowed. */
const payload = fc.oneof(
  { weight: 20, arbitrary: bytes(30) },
  { weight: 1, arbitrary: fc.constantFrom(16_383, 16_384).map((length) => Buffer.alloc(length, 'p')) },
)

const otherFrame: fc.Arbitrary<SentFrame> = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 255 }), streamId, payload, reserved)
  .map(([type, flags, streamId, payload, reserved]) => ({
    bytes: frameBytes(type, flags, streamId, payload, reserved),
    read: { type, flags, streamId, payload: payload.toString('hex') },
  }))

/** With as much padding as fits, or none at all. */
const dataFrame: fc.Arbitrary<SentFrame> = fc
  .tuple(payload, fc.option(fc.integer({ min: 0, max: 255 })), fc.boolean(), streamId, reserved)
  .map(([payload, padding, isLast, streamId, reserved]) => {
    const data = padding === null ? payload : payload.subarray(0, 16_384 - 1 - padding)
    const whole =
      padding === null ? data : Buffer.concat([Buffer.from([padding]), data, Buffer.alloc(padding)])
    const flags = (isLast ? endStream : 0) | (padding === null ? 0 : padded)
    return {
      bytes: frameBytes(0, flags | 0x40, streamId, whole, reserved),
      read: {
        type: 0,
        flags: isLast ? endStream : 0,
        streamId,
        payload: data.toString('hex'),
        length: whole.length,
        isEmpty: data.length === 0,
      },
    }
  })

const frames = fc.array(fc.oneof(otherFrame, dataFrame), { maxLength: 12 })
const sorted = (list: readonly ReadFrame[]) =>
  list.map(({ type, flags, streamId, payload, length, isEmpty }) => [
    ...[type, flags, streamId, payload, length, isEmpty],
  ])

t.test(`frames are read as they were sent, whole or cut anywhere (seed ${seed})`, async (t) => {
  let [count, padding] = [0, 0]
  fc.assert(
    fc.property(frames, cuts, fc.boolean(), (sent, lengths, isByBytes) => {
      const all = Buffer.concat(sent.map(({ bytes }) => bytes))
      // Byte by byte only what is short enough for it.
      const single = isByBytes && all.length < 2_000
      const pieces = single
        ? cut(
            all,
            Array.from(all, () => 1),
          )
        : cut(all, lengths)
      for (const way of [[all], pieces]) {
        const read = readFrames(way)
        assertSame([read.open, read.code], [undefined, undefined])
        assertSame(sorted(read.frames), sorted(sent.map((one) => one.read)))
      }
      count += sent.length
      padding += sent.filter(({ bytes }) => bytes[3] === 0 && ((bytes[4] ?? 0) & padded) !== 0).length
    }),
    { seed, numRuns: 2_000 },
  )
  t.ok(count > 5_000 && padding > 1_000, `${count} frames, ${padding} of them padded DATA`)
})

t.test(
  `bytes that may be frames are read or refused alike, however they are cut (seed ${seed})`,
  async (t) => {
    let refused = 0
    const head = fc
      .tuple(
        fc.integer({ min: 0, max: 40 }),
        fc.constantFrom(0, 0, 1, 4, 9),
        fc.integer({ min: 0, max: 255 }),
      )
      .map(([length, type, flags]) => Buffer.from([0, 0, length, type, flags, 0, 0, 0, 1]))
    const parts = fc.array(fc.oneof(head, bytes(20)), { maxLength: 12 })
    fc.assert(
      fc.property(parts, cuts, (some, lengths) => {
        const all = Buffer.concat(some)
        const whole = readFrames([all])
        if (whole.code !== undefined) refused++
        assertSame(readFrames(cut(all, lengths)), whole)
        assertSame(
          readFrames(
            cut(
              all,
              Array.from(all, () => 1),
            ),
          ),
          whole,
        )
      }),
      { seed, numRuns: 3_000 },
    )
    t.ok(refused > 300, `${refused} were refused`)
  },
)

t.test('a frame that is too large is refused at its head, and DATA begin at theirs', async (t) => {
  t.equal(readFrames([hex('004001 04 00 00000000')]).code, 6)
  t.equal(readFrames([hex('004001 00 00 00000001')]).code, 6)
  t.equal(readFrames([hex('ffffff ff ff 00000001')]).code, 6)
  t.equal(readFrames([hex('004000 04 00 00000000')]).code, undefined)
  t.strictSame(readFrames([hex('004000 00 00 00000001 61')]).open, {
    streamId: 1,
    length: 16_384,
    payload: '61',
  })
})

t.test('padding of DATA is shorter than what follows its length', async (t) => {
  t.equal(readFrames([hex('000000 00 08 00000001')]).code, 6, 'no length')
  t.equal(readFrames([hex('000001 00 08 00000001 01')]).code, 1)
  t.equal(readFrames([hex('000003 00 08 00000001 03 0000')]).code, 1)
  const whole = readFrames([hex('000003 00 08 00000001 02 0000')])
  t.strictSame(whole, {
    frames: [{ type: 0, flags: 0, isEmpty: true, streamId: 1, length: 3, payload: '' }],
    open: undefined,
    code: undefined,
  })
})
