import t from 'tap'
import { BlockReader } from '#http/h2/framing/field-block.ts'
import { errorCode, frameFlag } from '#http/h2/framing/protocol.ts'

const bytesMax = 1_000
const { endHeaders, endStream, padded, priority } = frameFlag
const start = () => new BlockReader(() => bytesMax)
const tooMany = { code: errorCode.enhanceYourCalm }
const malformed = { code: errorCode.protocolError }
const wrongSize = { code: errorCode.frameSizeError }

t.test('a field block may come in 64 frames, and be as long as its bound', async (t) => {
  for (const { count, bytes, isTooMuch } of [
    { count: 64, bytes: 0, isTooMuch: false },
    { count: 65, bytes: 0, isTooMuch: true },
    { count: 1_000, bytes: 0, isTooMuch: true },
    { count: 2, bytes: bytesMax / 2, isTooMuch: false },
    { count: 2, bytes: bytesMax / 2 + 1, isTooMuch: true },
    { count: 50, bytes: bytesMax, isTooMuch: true },
  ]) {
    const reader = start()
    const fragment = Buffer.alloc(bytes, 'x')
    const read = () => {
      reader.readHeaders(0, 1, fragment)
      for (let more = count - 2; more > 0; more--) reader.readContinuation(0, 1, fragment)
      return reader.readContinuation(endHeaders, 1, fragment)
    }
    const what = `${count} frames of ${bytes} bytes`
    if (isTooMuch) t.throws(read, tooMany, what)
    else t.match(read(), { streamId: 1, isLast: false, bytes: Buffer.alloc(count * bytes, 'x') }, what)
  }
})

t.test('only its own stream continues a block, and nothing does after its end', async (t) => {
  const reader = start()
  t.throws(() => reader.readContinuation(endHeaders, 1, Buffer.from('a')), malformed, 'nothing was begun')
  t.equal(reader.readHeaders(endStream, 3, Buffer.from('a')), undefined)
  t.equal(reader.openStreamId, 3)
  for (const other of [0, 1, 5])
    t.throws(() => reader.readContinuation(endHeaders, other, Buffer.from('b')), malformed, String(other))
  const block = reader.readContinuation(endHeaders, 3, Buffer.from('b'))
  t.match(block, { streamId: 3, isLast: true, bytes: Buffer.from('ab') })
  t.equal(reader.openStreamId, 0)
  t.throws(() => reader.readContinuation(endHeaders, 3, Buffer.from('c')), malformed, 'after its end')
})

t.test('padding and priority are no part of a block, and fit into their frame', async (t) => {
  const read = (flags: number, payload: readonly number[], streamId = 1) =>
    start().readHeaders(flags | endHeaders, streamId, Buffer.from(payload))?.bytes
  t.strictSame(read(padded, [2, 7, 8, 0, 0]), Buffer.from([7, 8]))
  t.strictSame(read(padded, [2, 0, 0]), Buffer.alloc(0), 'nothing but padding')
  t.throws(() => read(padded, [3, 0, 0]), malformed, 'one byte longer than the frame')
  t.throws(() => read(padded, [255, 0, 0]), malformed)
  t.throws(() => read(padded, []), wrongSize)
  t.strictSame(read(priority, [0, 0, 0, 3, 16, 7]), Buffer.from([7]))
  t.throws(() => read(priority, [0, 0, 0, 3]), wrongSize)
  t.throws(() => read(priority, [0, 0, 0, 1, 16, 7]), malformed, 'it depends on itself')
  t.throws(() => read(priority, [128, 0, 0, 1, 16, 7]), malformed, 'exclusively')
  t.strictSame(read(padded | priority, [1, 0, 0, 0, 3, 16, 7, 0]), Buffer.from([7]))
  t.throws(() => read(padded | priority, [3, 0, 0, 0, 3, 16, 7, 0]), malformed, 'into the priority')
})
