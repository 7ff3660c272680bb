import t from 'tap'
import { startFrameBackend } from '../../h2/frame-backend.ts'
import {
  endHeaders,
  endStream,
  fieldBlock,
  frame,
  frameTypes,
  settingsPayload,
  uint32,
} from '../../h2/frames.ts'
import { exchange, openTestUpstream, request } from '../exchange.ts'

interface Case {
  readonly name: string
  /** What the target answers on stream 1. */
  readonly send: readonly Buffer[]
  /** Whether its connection is of no more use. */
  readonly endsConnection?: boolean
}

type Fields = readonly (readonly [string, string])[]

const headers = (fields: Fields, flags = 0) => frame('headers', endHeaders | flags, 1, fieldBlock(fields))
const data = (text: string, flags = 0) => frame('data', flags, 1, Buffer.from(text))
const ok = headers([[':status', '200']])

/** Answers that are none (RFC 9113 8): their requests fail, and others on the connection do not. */
const malformed: readonly Case[] = [
  { name: 'data before the head', send: [data('a'), ok, data('b', endStream)] },
  { name: 'the end without a head', send: [data('', endStream)] },
  { name: 'data between a 1xx and the head', send: [headers([[':status', '103']]), data('a'), ok] },
  { name: 'a 1xx that ends the response', send: [headers([[':status', '103']], endStream)] },
  { name: 'no status', send: [headers([['server', 'a']], endStream)] },
  { name: 'the status 101', send: [headers([[':status', '101']], endStream)] },
  { name: 'a status of two digits', send: [headers([[':status', '20']], endStream)] },
  {
    name: 'the status behind a field',
    send: [
      headers(
        [
          ['a', 'b'],
          [':status', '200'],
        ],
        endStream,
      ),
    ],
  },
  {
    name: 'a pseudo-header field of requests',
    send: [
      headers(
        [
          [':status', '200'],
          [':path', '/'],
        ],
        endStream,
      ),
    ],
  },
  {
    name: 'a name in upper case',
    send: [
      headers(
        [
          [':status', '200'],
          ['X-A', 'b'],
        ],
        endStream,
      ),
    ],
  },
  {
    name: 'a line break in a value',
    send: [
      headers(
        [
          [':status', '200'],
          ['a', 'b\r\nc: d'],
        ],
        endStream,
      ),
    ],
  },
  {
    name: 'a line break in a name',
    send: [
      headers(
        [
          [':status', '200'],
          ['a: b\r\nc', 'd'],
        ],
        endStream,
      ),
    ],
  },
  {
    name: 'a field of HTTP/1.1',
    send: [
      headers(
        [
          [':status', '200'],
          ['connection', 'close'],
        ],
        endStream,
      ),
    ],
  },
  { name: 'a second head', send: [ok, data('a'), ok] },
  {
    name: 'trailers with a pseudo-header field',
    send: [ok, data('a'), headers([[':status', '200']], endStream)],
  },
  { name: 'trailers with a line break', send: [ok, data('a'), headers([['a', 'b\r\nc: d']], endStream)] },
  {
    name: 'more data than content-length',
    send: [
      headers([
        [':status', '200'],
        ['content-length', '1'],
      ]),
      data('ab'),
    ],
  },
  {
    name: 'less data than content-length',
    send: [
      headers([
        [':status', '200'],
        ['content-length', '3'],
      ]),
      data('ab', endStream),
    ],
  },
  {
    name: 'two lengths',
    send: [
      headers([
        [':status', '200'],
        ['content-length', '1'],
        ['content-length', '2'],
      ]),
      data('a'),
    ],
  },
]

/** What ends a connection (RFC 9113 5.4.1). */
const broken: readonly Case[] = [
  { name: 'DATA on an idle stream', send: [frame('data', 0, 3, Buffer.from('a'))] },
  { name: 'HEADERS on an idle stream', send: [frame('headers', endHeaders, 3, Buffer.from([0x88]))] },
  { name: 'HEADERS on a stream of its own', send: [frame('headers', endHeaders, 2, Buffer.from([0x88]))] },
  { name: 'PUSH_PROMISE', send: [frame('pushPromise', endHeaders, 1, Buffer.from([0, 0, 0, 2, 0x82]))] },
  { name: 'SETTINGS that enable push', send: [frame('settings', 0, 0, settingsPayload([[2, 1]]))] },
  { name: 'a window of 2^31', send: [frame('windowUpdate', 0, 0, uint32(2 ** 31 - 1))] },
  {
    name: 'fields that cannot be decoded',
    send: [frame('headers', endHeaders, 1, Buffer.from([0x88, 0x80]))],
  },
  { name: 'a frame that is too large', send: [frame('data', 0, 1, Buffer.alloc(16_385))] },
  {
    name: 'a field block that is interrupted',
    send: [frame('headers', 0, 1, Buffer.from([0x88])), data('a')],
  },
].map((one) => ({ ...one, endsConnection: true }))

for (const { name, send, endsConnection = false } of [...malformed, ...broken]) {
  const connections = endsConnection ? 'ends the connection' : 'leaves the connection to others'
  t.test(`an answer of HTTP/2 that is none fails its request, and ${connections}: ${name}`, async (t) => {
    let requests = 0
    const backend = await startFrameBackend(t, {
      onFrame: (connection, { type, streamId }) => {
        if (type !== frameTypes.headers) return
        if (requests++ === 0) connection.socket.write(Buffer.concat(send))
        else connection.respond(streamId, 'ok')
      },
    })
    const upstream = openTestUpstream(t, backend.url, { protocol: 'http2' })
    // Of a POST without a body, so that it is not sent again.
    const { failure } = exchange(upstream, { method: 'POST' })
    const { reason } = await failure
    t.match(reason, endsConnection ? /^(invalid-response|closed-early)$/ : /^invalid-response$/)
    t.equal((await request(upstream)).body, 'ok')
    t.equal(backend.connections.length, endsConnection ? 2 : 1)
  })
}

t.test('a target may answer with empty data, and trailers without data', async (t) => {
  const answers = [
    [ok, data(''), data('a'), data(''), data('', endStream)],
    [ok, headers([['x-sum', '1']], endStream)],
    [headers([[':status', '103']]), headers([[':status', '204']], endStream)],
  ]
  for (const send of answers) {
    const backend = await startFrameBackend(t, {
      onFrame: ({ socket }, { type }) => {
        if (type === frameTypes.headers) socket.write(Buffer.concat(send))
      },
    })
    const { head, body, trailers } = await request(openTestUpstream(t, backend.url, { protocol: 'http2' }))
    const index = answers.indexOf(send)
    t.equal(head.status, index === 2 ? 204 : 200)
    t.strictSame(
      [body, trailers],
      [
        ['a', []],
        ['', ['x-sum', '1']],
        ['', []],
      ][index],
    )
  }
})
