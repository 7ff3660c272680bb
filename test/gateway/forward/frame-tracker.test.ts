import t from 'tap'
import { closeFrame, FrameTracker } from '#gateway/forward/tunnel.ts'
import { createRandom } from '../../http/outgoing/random.ts'

/** A frame as RFC 6455 5.2 has it. @param form how many bytes the length takes, as far as it fits */
function frameOf(payload: Buffer, { isMasked = false, form = 0, first = 0x82 } = {}): Buffer {
  const { length } = payload
  const bytes = form || (length < 126 ? 7 : length < 65_536 ? 16 : 64)
  const mask = isMasked ? 0x80 : 0
  const extended = Buffer.alloc(bytes === 7 ? 0 : bytes === 16 ? 2 : 8)
  if (bytes === 16) extended.writeUInt16BE(length)
  if (bytes === 64) extended.writeBigUInt64BE(BigInt(length))
  const second = mask | (bytes === 7 ? length : bytes === 16 ? 126 : 127)
  const key = isMasked ? Buffer.from([1, 2, 3, 4]) : Buffer.alloc(0)
  return Buffer.concat([Buffer.from([first, second]), extended, key, payload])
}

const kinds: readonly { readonly what: string; readonly frame: Buffer }[] = [
  ...[false, true].flatMap((isMasked) => [
    { what: 'empty', frame: frameOf(Buffer.alloc(0), { isMasked }) },
    { what: 'of one byte', frame: frameOf(Buffer.alloc(1, 0x88), { isMasked }) },
    { what: 'of the longest short length', frame: frameOf(Buffer.alloc(125, 0x7e), { isMasked }) },
    { what: 'of the shortest middle length', frame: frameOf(Buffer.alloc(126, 0xff), { isMasked }) },
    { what: 'of a middle length', frame: frameOf(Buffer.alloc(300, 0x81), { isMasked }) },
    { what: 'with a longer length than it needs', frame: frameOf(Buffer.alloc(3), { isMasked, form: 16 }) },
    {
      what: 'with a far longer length than it needs',
      frame: frameOf(Buffer.alloc(3), { isMasked, form: 64 }),
    },
    { what: 'empty, with the longest length', frame: frameOf(Buffer.alloc(0), { isMasked, form: 64 }) },
    { what: 'a ping', frame: frameOf(Buffer.from('hi'), { isMasked, first: 0x89 }) },
    { what: 'a fragment', frame: frameOf(Buffer.from('hi'), { isMasked, first: 0x01 }) },
  ]),
]

t.test('a frame ends where its last byte is, however it is cut', async (t) => {
  for (const { what, frame } of kinds) {
    for (let cut = 0; cut <= frame.length; cut++) {
      const boundary = new FrameTracker()
      t.equal(boundary.isAtBoundary, true)
      boundary.consume(frame.subarray(0, cut), false)
      if (boundary.isAtBoundary !== (cut === 0 || cut === frame.length)) t.fail(`${what}, cut after ${cut}`)
      boundary.consume(frame.subarray(cut), false)
      if (!boundary.isAtBoundary) t.fail(`${what}, whole after ${cut}`)
    }
  }
})

t.test('asked to stop it takes what completes the current frame, and no byte more', async (t) => {
  const next = frameOf(Buffer.from('next'))
  for (const { what, frame } of kinds) {
    const both = Buffer.concat([frame, next])
    for (let cut = 0; cut <= frame.length; cut++) {
      const boundary = new FrameTracker()
      boundary.consume(both.subarray(0, cut), false)
      const taken = boundary.consume(both.subarray(cut), true)
      // At a boundary already it takes nothing at all.
      const expected = cut === 0 || cut === frame.length ? 0 : frame.length - cut
      if (taken !== expected || !boundary.isAtBoundary) t.fail(`${what}, cut after ${cut}: took ${taken}`)
    }
  }
  t.equal(new FrameTracker().consume(next, true), 0)
  t.equal(new FrameTracker().consume(next, false), next.length)
})

t.test('a long stream of frames in random pieces is followed to its end', async (t) => {
  const random = createRandom(11)
  const frames = Array.from({ length: 200 }, () => {
    const isMasked = random.below(2) === 0
    return frameOf(random.bytes(random.pick([0, 1, 5, 125, 126, 400])), {
      isMasked,
      form: random.pick([0, 0, 64]),
    })
  })
  const stream = Buffer.concat(frames)
  const ends = new Set(frames.map((_, index) => Buffer.concat(frames.slice(0, index + 1)).length))
  const boundary = new FrameTracker()
  for (let start = 0; start < stream.length; ) {
    const end = Math.min(stream.length, start + 1 + random.below(50))
    t.equal(boundary.consume(stream.subarray(start, end), false), end - start)
    start = end
    if (boundary.isAtBoundary !== ends.has(end)) t.fail(`at ${end}`)
  }
})

t.test('a frame of 4 GiB and more is followed without being kept', async (t) => {
  const boundary = new FrameTracker()
  const header = Buffer.from([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 5])
  boundary.consume(header, false)
  const chunk = Buffer.alloc(16_777_216)
  for (let count = 0; count < 256; count++) boundary.consume(chunk, false)
  t.equal(boundary.isAtBoundary, false)
  t.equal(boundary.consume(Buffer.alloc(9), true), 5)
  t.equal(boundary.isAtBoundary, true)
})

t.test('a Close frame has its code and reason, and a mask towards a server', async (t) => {
  t.strictSame(closeFrame(4001, 'bye', false), Buffer.from([0x88, 5, 0x0f, 0xa1, ...Buffer.from('bye')]))
  t.strictSame(closeFrame(1001, '', false), Buffer.from([0x88, 2, 0x03, 0xe9]))
  const masked = closeFrame(1001, 'bye', true)
  t.strictSame([masked[0], masked[1]], [0x88, 0x85])
  const payload = masked.subarray(6).map((byte, index) => byte ^ (masked[2 + (index % 4)] ?? 0))
  t.strictSame([...payload], [0x03, 0xe9, ...Buffer.from('bye')])
  for (const isMasked of [false, true]) {
    const boundary = new FrameTracker()
    const frame = closeFrame(1001, 'the gateway is shutting down', isMasked)
    t.equal(boundary.consume(frame, false), frame.length)
    t.equal(boundary.isAtBoundary, true)
  }
})
