import t from 'tap'
import { ChunkedDecoder } from '../../src/wire/chunked-decoder.ts'
import { createRandom, cutAtRandom } from '../upstream/random.ts'

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

t.test('any body comes out as it went in, however it is chunked and cut', async (t) => {
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

t.test('data are handed on as they come, not kept until their chunk is whole', async (t) => {
  const data: string[] = []
  const decoder = new ChunkedDecoder((chunk) => data.push(chunk.toString()))
  decoder.feed(Buffer.from('64\r\nab'))
  t.strictSame(data, ['ab'])
  decoder.feed(Buffer.from('cd'))
  t.strictSame(data, ['ab', 'cd'])
})

t.test('the largest size there can be is a size', async (t) => {
  t.strictSame(decode([Buffer.from('FFFFFFFFFFFFF\r\nab')]).data, Buffer.from('ab'))
})
