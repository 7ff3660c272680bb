import { createFrameReader, endHeaders, endStream, frame, frameTypes } from '../../http/h2/frames.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const framePayloadMax = 16_384

/** A connection's first bytes: its preface, and one request with the fields as HPACK literals (RFC 7541 6.2.2). */
export function http2RequestBytes(fields: readonly (readonly [string, string])[]): Buffer {
  const block = Buffer.concat(
    fields.map(([name, value]) => Buffer.concat([Buffer.from([0]), literal(name), literal(value)])),
  )
  const pieces = Array.from({ length: Math.ceil(block.length / framePayloadMax) }, (_, index) =>
    block.subarray(index * framePayloadMax, (index + 1) * framePayloadMax),
  )
  const frames = pieces.map((piece, index) => {
    const ends = index === pieces.length - 1 ? endHeaders : 0
    return index === 0 ? frame('headers', ends | endStream, 1, piece) : frame('continuation', ends, 1, piece)
  })
  return Buffer.concat([preface, frame('settings', 0, 0), ...frames])
}

/** Whether the answer to the request has begun, or there is none. */
export function hasHttp2Answer(received: Buffer): boolean {
  let hasAnswer = false
  createFrameReader(({ type }) => {
    hasAnswer ||= type === frameTypes.headers || type === frameTypes.resetStream || type === frameTypes.goaway
  })(received)
  return hasAnswer
}

/** A text after its length, of which each byte has seven bits (RFC 7541 5.1, 5.2). */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  const prefixMax = 127
  if (bytes.length < prefixMax) return Buffer.concat([Buffer.from([bytes.length]), bytes])
  const length = [prefixMax]
  for (let rest = bytes.length - prefixMax; ; rest >>= 7) {
    if (rest < 128) {
      length.push(rest)
      return Buffer.concat([Buffer.from(length), bytes])
    }
    length.push((rest & 127) | 128)
  }
}
