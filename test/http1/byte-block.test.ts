import t from 'tap'
import { ByteBlock, type Piece } from '../../src/http1/byte-block.ts'
import { createRandom } from '../upstream/random.ts'

/** Adds the bytes. @returns where they are */
function addTo(block: ByteBlock, bytes: Buffer): Piece {
  return { start: block.add(bytes), length: bytes.length }
}

t.test('a piece is what a message ends with: no byte more, fewer or other', async (t) => {
  const block = new ByteBlock(64)
  addTo(block, Buffer.from('before'))
  const piece = addTo(block, Buffer.from('fields'))
  addTo(block, Buffer.from('after'))
  for (const [text, from, isSame] of [
    ['fields', 0, true],
    ['line fields', 5, true],
    ['line fields', 4, false],
    ['line fields', 6, false],
    ['fieldsa', 0, false],
    ['field', 0, false],
    ['fielda', 0, false],
    ['Fields', 0, false],
    ['', 0, false],
  ] as const)
    t.equal(block.endsWith(Buffer.from(text), from, piece), isSame, `${text} from ${from}`)
})

t.test('pieces stay what they are, whichever are kept, and the block has room again', async (t) => {
  const random = createRandom(77)
  const block = new ByteBlock(4_096)
  let known: { readonly piece: Piece; readonly bytes: Buffer }[] = []
  for (let round = 0; round < 300; round++) {
    for (let room = 4_096 - lengthOf(known); room >= 64 && random.below(8) > 0; room -= 64) {
      const bytes = random.bytes(1 + random.below(64))
      known.push({ piece: addTo(block, bytes), bytes })
    }
    known = known.filter(() => random.below(3) > 0)
    block.keep(known.map(({ piece }) => piece))
    t.ok(known.every(({ piece, bytes }) => block.endsWith(bytes, 0, piece)))
  }
  t.equal(addTo(block, Buffer.alloc(4_096 - lengthOf(known))).start, lengthOf(known), 'nothing is lost')
})

function lengthOf(known: readonly { readonly bytes: Buffer }[]): number {
  return known.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

t.test('the bytes of dropped pieces are overwritten', async (t) => {
  const block = new ByteBlock(64)
  const pieces = ['secret-a', 'secret-bc', 'kept', 'secret-d'].map((text) => addTo(block, Buffer.from(text)))
  block.keep(pieces.slice(2, 3))
  t.match(pieces[2], { start: 0, length: 4 })
  t.ok(block.endsWith(Buffer.from('kept'), 0, { start: 0, length: 4 }))
  t.ok(block.endsWith(Buffer.alloc(25), 0, { start: 4, length: 25 }), 'zeros up to where the last ended')
  block.keep([])
  t.ok(block.endsWith(Buffer.alloc(4), 0, { start: 0, length: 4 }))
})

t.test('a block takes as many bytes as it is for, and not one more', async (t) => {
  const block = new ByteBlock(8)
  t.equal(block.add(Buffer.from('abcd')), 0)
  t.throws(() => block.add(Buffer.from('efghi')), RangeError)
  t.throws(() => block.add(Buffer.alloc(10_000)), RangeError)
  t.equal(block.add(Buffer.from('efgh')), 4, 'what did not fit has changed nothing')
  t.throws(() => block.add(Buffer.from('i')), RangeError)
  t.ok(block.endsWith(Buffer.from('abcdefgh'), 0, { start: 0, length: 8 }))
})
