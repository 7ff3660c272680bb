import type { Random } from '../outgoing/random.ts'
import { bytesOf } from './read-heads.ts'

const requestLines = [
  'GET / HTTP/1.1',
  'POST /a?b HTTP/1.1',
  'QUERY /x HTTP/1.0',
  'FOO * HTTP/1.1',
  'GET / HTTP/2.0',
  'GET /',
  'GET  / HTTP/1.1',
  'G(T / HTTP/1.1',
  'GET /\x01 HTTP/1.1',
  'GET http://x/ HTTP/1.1',
  '\r\nGET / HTTP/1.1',
]
const fieldLines = [
  'Host: x',
  'X: y',
  'x-y:  z \t',
  'E:',
  'Content-Length: 3',
  'Transfer-Encoding: chunked',
  'Connection: close',
  'X : y',
  ' folded',
  'X',
  ': y',
  'X: \x7f',
  'Content-Length: -1',
  'Expect: 100-continue',
  'X: \xe9',
  'X: a\rb',
]
const interestingPieces = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  '\r\n\r\n',
  '\r\n ',
  'HTTP/1.1',
  'Content-Length: 1\r\n',
]

/** A request, mostly a well-formed one. */
export function makeRequest(random: Random): Buffer {
  const lines = Array.from({ length: random.below(8) }, () => random.pick(fieldLines))
  const text = `${[random.pick(requestLines), ...lines].join('\r\n')}\r\n\r\n`
  const bytes = bytesOf(text)
  if (random.below(2) === 0) return bytes
  const at = random.below(bytes.length)
  return Buffer.concat([
    bytes.subarray(0, at),
    bytesOf(random.pick(interestingPieces)),
    bytes.subarray(at + random.below(2)),
  ])
}
