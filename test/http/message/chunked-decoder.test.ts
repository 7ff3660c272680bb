import t from 'tap'
import { ChunkExtensions, ChunkedDecoder } from '#http/message/chunked-decoder.ts'
import { MalformedMessage } from '#http/request-head.ts'
import { createRandom, cutAtRandom } from '../outgoing/random.ts'

function decode(pieces: readonly Buffer[]) {
  const data: Buffer[] = []
  const decoder = new ChunkedDecoder((chunk) => data.push(chunk))
  const rest = pieces.map((piece) => decoder.feed(piece))
  return {
    data: Buffer.concat(data),
    trailers: decoder.trailers,
    rest: Buffer.concat(rest).toString('latin1'),
  }
}

t.test('a chunked body decodes to its data however it is chunked and split', async (t) => {
  const random = createRandom(7)
  for (let round = 0; round < 200; round++) {
    const body = random.bytes(random.below(400))
    const chunks = cutAtRandom(body, random, 60).flatMap((chunk) => [
      Buffer.from(`${'0'.repeat(random.below(3))}${chunk.length.toString(16)}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ])
    const trailers = random.pick(['', 'A: b\r\n', 'A: b\r\nC:d\r\n'])
    const sent = Buffer.concat([...chunks, Buffer.from(`0\r\n${trailers}\r\nrest`)])
    const whole = decode([sent])
    t.ok(whole.data.equals(body))
    t.equal(whole.rest, 'rest')
    t.strictSame(decode(cutAtRandom(sent, random, random.pick([1, 2, 5, 50]))), whole)
  }
})

t.test('data of a chunk is passed on as it arrives', async (t) => {
  const data: string[] = []
  const decoder = new ChunkedDecoder((chunk) => data.push(chunk.toString()))
  decoder.feed(Buffer.from('64\r\nab'))
  t.strictSame(data, ['ab'])
  decoder.feed(Buffer.from('cd'))
  t.strictSame(data, ['ab', 'cd'])
})

t.test('the largest possible chunk size is accepted', async (t) => {
  t.strictSame(decode([Buffer.from('FFFFFFFFFFFFF\r\nab')]).data, Buffer.from('ab'))
})

t.test('chunks that arrive together are passed on together', async (t) => {
  const data: string[] = []
  const decoder = new ChunkedDecoder((chunk) => data.push(chunk.toString()))
  const chunks = Buffer.from('1\r\na\r\n'.repeat(20_000))
  const before = Buffer.from(chunks)
  decoder.feed(chunks)
  t.strictSame(
    data.map(({ length }) => length),
    [16_384, 3_616],
  )
  t.equal(decoder.chunksRead, 20_000)
  t.ok(chunks.equals(before), 'what was read is left as it is')
})

t.test('chunk extensions are skipped up to their limit', async (t) => {
  const extensionOf = (length: number) => `;${'a'.repeat(length - 1)}`
  const decoderOf = (bytesMax: number) => new ChunkedDecoder(() => {}, new ChunkExtensions(bytesMax))
  const chunk = (length: number) => Buffer.from(`3${extensionOf(length)}\r\nabc\r\n`)
  decoderOf(1_000).feed(chunk(256))
  t.throws(() => decoderOf(1_000).feed(chunk(257)), MalformedMessage)
  t.throws(() => decoderOf(1_000).feed(Buffer.from(`3${extensionOf(20_000)}`)), MalformedMessage)
  const decoder = decoderOf(100)
  decoder.feed(chunk(100))
  decoder.feed(chunk(3))
  t.throws(() => decoder.feed(chunk(4)), MalformedMessage, 'more than 100, and as many as there are data')
})
