import fc from 'fast-check'
import t from 'tap'
import { ByteQueue } from '#http/h2/framing/byte-queue.ts'
import { assertSame } from '../../../fuzz/pieces.ts'

const seed = 4_096

type Step = { readonly add: number } | { readonly peek: number; readonly drop: number }

/** Sizes about those of blocks, and any others. */
const size = fc.oneof(
  fc.integer({ min: 0, max: 20 }),
  fc.constantFrom(4_095, 4_096, 4_097, 8_192, 16_384),
  fc.integer({ min: 0, max: 20_000 }),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ add: size }),
  fc.record({ peek: fc.oneof(size, fc.constantFrom(-5, 0, 1_000_000)), drop: fc.nat() }),
)

/** The first bytes, which have to be those of the model. */
function peek(queue: ByteQueue, model: Buffer, bytesMax: number): Buffer {
  const piece = queue.peek(bytesMax)
  if (model.length > 0 && bytesMax > 0 && piece.length === 0) throw new Error('nothing of something')
  if (piece.length > Math.max(0, bytesMax)) throw new Error('more than was asked for')
  if (!piece.equals(model.subarray(0, piece.length))) throw new Error('other bytes')
  return piece
}

t.test(`a queue has the bytes that were added, in their order (seed ${seed})`, async (t) => {
  let taken = 0
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const queue = new ByteQueue()
      let model: Buffer = Buffer.alloc(0)
      let next = 0
      for (const step of steps) {
        if ('add' in step) {
          const bytes = Buffer.from(Array.from({ length: step.add }, () => next++ % 251))
          queue.add(bytes)
          model = Buffer.concat([model, bytes])
          // It has copies.
          bytes.fill(0xff)
        } else {
          const piece = peek(queue, model, step.peek)
          // All of it more often than a part.
          const dropped = step.drop % 3 === 0 ? step.drop % (piece.length + 1) : piece.length
          queue.drop(dropped)
          model = model.subarray(dropped)
          taken += dropped
        }
        assertSame(queue.length, model.length)
      }
      for (; queue.length > 0; model = model.subarray(1)) {
        if (queue.peek(1)[0] !== model[0]) throw new Error('other bytes in the end')
        queue.drop(1)
      }
      assertSame(model.length, 0)
    }),
    { seed, numRuns: 300 },
  )
  t.ok(taken > 100_000, `${taken} bytes were taken`)
})

t.test('many small pieces take little more memory than their bytes', async (t) => {
  const queue = new ByteQueue()
  const piece = Buffer.from('x')
  for (let count = 0; count < 10_000; count++) queue.add(piece)
  let blocks = 0
  for (; queue.length > 0; blocks++) queue.drop(queue.peek(10_000).length)
  t.equal(blocks, 3)
  t.equal(queue.peek(1).length, 0)
  queue.drop(0)
  queue.add(piece)
  t.strictSame([queue.length, String(queue.peek(9))], [1, 'x'])
})
