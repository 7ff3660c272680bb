import { endHeaders, endStream, fieldBlock, frame, requestBlock } from '../frames.ts'
import { bytes, type Case, code, data, get, post, postBlock } from './case.ts'

const trailers = (fields: readonly (readonly [string, string])[], flags = endHeaders | endStream) =>
  frame('headers', flags, 1, fieldBlock(fields))
const length = (bytes: string) => post(1, [['content-length', bytes]])

/** Requests that are malformed (RFC 9113 8.1). */
const malformedCases: readonly Case[] = [
  {
    name: 'content-length of what follows',
    section: '8.1.1',
    send: [length('3'), data(1, 1), data(1, 2, endStream)],
    expected: { status: '200' },
  },
  {
    name: 'more than content-length, in one frame',
    section: '8.1.1',
    send: [length('3'), data(1, 4, endStream)],
    expected: { reset: code.protocol },
  },
  {
    name: 'more than content-length, over frames',
    section: '8.1.1',
    send: [length('3'), data(1, 2), data(1, 2)],
    expected: { reset: code.protocol },
  },
  {
    name: 'less than content-length, in one frame',
    section: '8.1.1',
    send: [length('3'), data(1, 2, endStream)],
    expected: { reset: code.protocol },
  },
  {
    name: 'less than content-length, over frames',
    section: '8.1.1',
    send: [length('3'), data(1, 1), data(1, 1), data(1, 0, endStream)],
    expected: { reset: code.protocol },
  },
  {
    name: 'less than content-length before trailers',
    section: '8.1.1',
    send: [length('3'), data(1, 2), trailers([['x-a', 'b']])],
    expected: { reset: code.protocol },
  },
  {
    name: 'data although content-length is 0',
    section: '8.1.1',
    send: [length('0'), data(1, 1, endStream)],
    expected: { reset: code.protocol },
  },
  {
    name: 'no data although content-length is not 0',
    section: '8.1.1',
    send: [get(1, postBlock([['content-length', '3']]))],
    expected: { reset: code.protocol },
  },
  {
    name: 'a content-length that is no number',
    section: '8.1.1',
    send: [get(1, postBlock([['content-length', '+0']]))],
    expected: { status: '400' },
  },
  {
    name: 'trailers',
    section: '8.1',
    send: [post(1), data(1, 1), trailers([['x-a', 'b']])],
    expected: { status: '200' },
  },
  {
    name: 'trailers alone',
    section: '8.1',
    send: [post(1), trailers([['x-a', 'b']])],
    expected: { status: '200' },
  },
  {
    name: 'trailers without END_STREAM',
    section: '8.1',
    send: [post(1), data(1, 1), trailers([['x-a', 'b']], endHeaders)],
    expected: { reset: code.protocol },
  },
  {
    name: 'trailers with a pseudo-header field',
    section: '8.3',
    send: [
      post(1),
      data(1, 1),
      trailers([
        ['x-a', 'b'],
        [':method', 'GET'],
      ]),
    ],
    expected: { reset: code.protocol },
  },
  {
    name: 'trailers with a name in upper case',
    section: '8.2.1',
    send: [post(1), data(1, 1), trailers([['X-A', 'b']])],
    expected: { reset: code.protocol },
  },
  {
    name: 'trailers with a line break in a value',
    section: '8.2.1',
    send: [post(1), data(1, 1), trailers([['x-a', 'b\r\nx-c: d']])],
    expected: { reset: code.protocol },
  },
  {
    name: 'trailers with a line break in a name',
    section: '8.2.1',
    send: [post(1), data(1, 1), trailers([['x-a: b\r\nx-c', 'd']])],
    expected: { reset: code.protocol },
  },
  {
    name: 'trailers with a field of HTTP/1.1',
    section: '8.2.2',
    send: [post(1), data(1, 1), trailers([['transfer-encoding', 'chunked']])],
    expected: { reset: code.protocol },
  },
  {
    name: 'no :method',
    section: '8.3.1',
    send: [
      get(
        1,
        fieldBlock([
          [':path', '/'],
          [':scheme', 'http'],
        ]),
      ),
    ],
    expected: { reset: code.protocol },
  },
  {
    name: 'no :path',
    section: '8.3.1',
    send: [
      get(
        1,
        fieldBlock([
          [':method', 'GET'],
          [':scheme', 'http'],
        ]),
      ),
    ],
    expected: { reset: code.protocol },
  },
  {
    name: 'no :scheme',
    section: '8.3.1',
    send: [
      get(
        1,
        fieldBlock([
          [':method', 'GET'],
          [':path', '/'],
        ]),
      ),
    ],
    expected: { reset: code.protocol },
  },
  {
    name: 'an empty :path',
    section: '8.3.1',
    send: [get(1, requestBlock(''))],
    expected: { reset: code.protocol },
  },
  { name: 'no fields at all', section: '8.3.1', send: [get(1, bytes())], expected: { reset: code.protocol } },
  {
    name: ':status in a request',
    section: '8.3',
    send: [get(1, fieldBlock([[':status', '200']]))],
    expected: { reset: code.protocol },
  },
  {
    name: 'a pseudo-header field after others',
    section: '8.3',
    send: [
      get(
        1,
        fieldBlock([
          [':method', 'GET'],
          ['x-a', 'b'],
          [':path', '/'],
          [':scheme', 'http'],
        ]),
      ),
    ],
    expected: { reset: code.protocol },
  },
  {
    name: 'a second :path after all others',
    section: '8.3',
    send: [
      get(
        1,
        requestBlock('/', [
          ['x-a', 'b'],
          [':path', '/other'],
        ]),
      ),
    ],
    expected: { reset: code.protocol },
  },
  {
    name: 'a second :path after all others, from the table',
    section: '8.3',
    send: [get(1, Buffer.concat([requestBlock('/', [['x-a', 'b']]), bytes(0x84)]))],
    expected: { reset: code.protocol },
  },
]

/** Field blocks that cannot be decoded (RFC 7541). */
const compressionCases: readonly Case[] = (
  [
    ['an index beyond the tables', bytes(0x82, 0xff, 0x00)],
    ['the index 0', bytes(0x80)],
    ['a field that is cut off', bytes(0x82, 0x44)],
    ['Huffman code that is padded wrongly', bytes(0x44, 0x81, 0x18)],
    ['a table size after a field', bytes(0x82, 0x20)],
    ['a table of 4,097 bytes', bytes(0x3f, 0xe2, 0x1f, 0x82)],
  ] as const
).map(([name, block]) => ({
  name: `a field block with ${name}`,
  section: '4.3',
  send: [get(1, block)],
  expected: { goaway: code.compression },
}))

/** Messages (RFC 9113 4.3, 8). */
export const messageCases: readonly Case[] = [
  ...malformedCases,
  ...compressionCases,
  {
    name: 'trailers that cannot be decoded',
    section: '4.3',
    send: [post(1), frame('headers', endHeaders | endStream, 1, bytes(0x80))],
    expected: { goaway: code.compression },
  },
  {
    name: 'fields of a closed stream that cannot be decoded',
    section: '4.3',
    send: [length('1'), data(1, 2), frame('headers', endHeaders | endStream, 1, bytes(0x80))],
    expected: { goaway: code.compression },
  },
]
