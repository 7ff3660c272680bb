import fc from 'fast-check'
import { ChunkedDecoder } from '#http/message/chunked-decoder.ts'
import { MalformedMessage } from '#http/request-head.ts'
import { readResponse } from '../../http/outgoing/read-response.ts'
import { assertSame, cut, cuts } from '../pieces.ts'
import { type Property, property } from '../property.ts'

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array))

const chunked = fc.record({
  body: bytes,
  sizes: cuts,
  zeros: fc.nat(3),
  isUpper: fc.boolean(),
  trailers: fc.constantFrom('', 'A: b\r\n', 'X-Sum: 1\r\nx-sum:2\r\n'),
})

type Chunked = typeof chunked extends fc.Arbitrary<infer Value> ? Value : never

function encode({ body, sizes, zeros, isUpper, trailers }: Chunked): Buffer {
  const chunks = cut(body, sizes).flatMap((chunk) => {
    const size = chunk.length.toString(16)
    return [
      Buffer.from(`${'0'.repeat(zeros)}${isUpper ? size.toUpperCase() : size}\r\n`),
      chunk,
      Buffer.from('\r\n'),
    ]
  })
  return Buffer.concat([...chunks, Buffer.from(`0\r\n${trailers}\r\n`)])
}

/** What a decoder makes of a body, however it comes. */
function decode(pieces: readonly Buffer[]) {
  const data: Buffer[] = []
  const decoder = new ChunkedDecoder((chunk) => data.push(Buffer.from(chunk)))
  let rest = ''
  let refusal: string | undefined
  try {
    for (const piece of pieces) rest += decoder.feed(piece).toString('latin1')
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error
    refusal = error.message
  }
  const body = Buffer.concat(data).toString('latin1')
  // Of a refused body it matters only that it is refused: what of it was handed on depends on the pieces.
  return refusal === undefined ? { body, rest, trailers: decoder.trailers } : { refusal }
}

/** Bytes that matter in framing, more often than others. */
const framing = fc
  .array(
    fc.oneof(
      fc.constantFrom('\r\n', '0', '1', 'a', 'F', ';', ' ', '\n', '\r', 'X: y', '\0', '5\r\nhello\r\n'),
      fc.constantFrom('x'),
    ),
    { maxLength: 20 },
  )
  .map((parts) => Buffer.from(parts.join(''), 'latin1'))

const responseHead = fc.constantFrom(
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
)

function readAnswer(pieces: readonly Buffer[]) {
  const { information, head, body, trailers, rest, isComplete, refusal } = readResponse(pieces, {
    isClosed: true,
  })
  return refusal === undefined ? { information, head, body, trailers, rest, isComplete } : { refusal }
}

export const bodyProperties: readonly Property[] = [
  property(
    'a chunked body comes out as it went in, whatever its chunks',
    fc.tuple(chunked, bytes),
    ([sent, after]) => {
      const { body, rest } = decode([Buffer.concat([encode(sent), after])])
      assertSame(body, sent.body.toString('latin1'))
      assertSame(rest, after.toString('latin1'))
    },
  ),
  property(
    'a chunked body is the same however its bytes are cut',
    fc.tuple(chunked, bytes, cuts),
    ([sent, after, lengths]) => {
      const all = Buffer.concat([encode(sent), after])
      assertSame(decode(cut(all, lengths)), decode([all]))
    },
  ),
  property(
    'bytes that may be a chunked body are read or refused alike however they are cut',
    fc.tuple(framing, cuts),
    ([sent, lengths]) => {
      assertSame(decode(cut(sent, lengths)), decode([sent]))
    },
  ),
  property(
    'a chunked answer is the same however its bytes are cut',
    fc.tuple(responseHead, chunked, cuts),
    ([head, sent, lengths]) => {
      const all = Buffer.concat([Buffer.from(head), encode(sent)])
      const whole = readAnswer([all])
      assertSame(whole.body, sent.body.toString('latin1'))
      assertSame(readAnswer(cut(all, lengths)), whole)
    },
  ),
  property(
    'an answer of any bytes is read or refused alike however it is cut',
    fc.tuple(responseHead, framing, cuts),
    ([head, sent, lengths]) => {
      const all = Buffer.concat([Buffer.from(head), sent])
      assertSame(readAnswer(cut(all, lengths)), readAnswer([all]))
    },
  ),
]
