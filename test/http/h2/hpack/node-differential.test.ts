import { once } from 'node:events'
import {
  connect as connectHttp2,
  createServer,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import t from 'tap'
import { HpackDecoder } from '#http/h2/hpack/decoder.ts'
import { HpackEncoder } from '#http/h2/hpack/encoder.ts'
import { startRawBackend } from '../../../setup/backend.ts'
import { until } from '../../../setup/net.ts'
import { createRandom } from '../../outgoing/random.ts'
import { createFrameReader, endHeaders, endStream, type Frame, frame, frameTypes } from '../frames.ts'

/** What nghttp2 encodes is decoded here, and what is encoded here it decodes (through node:http2). */

/** The same fields each time. */
const seed = 9_113
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const requests = 600
const acknowledged = 0x1

type Fields = readonly (readonly [name: string, value: string])[]

/** Repeated and random fields, with every byte that a value may have. */
function createFields(seed: number): () => Fields {
  const random = createRandom(seed)
  const names = ['accept', 'x-a', 'x-b', 'user-agent', 'cache-control', 'x-request', 'authorization', 'etag']
  const characters = [0x09, ...Array.from({ length: 224 }, (_, index) => index + 0x20)].filter(
    (code) => code !== 0x7f,
  )
  const character = () => String.fromCharCode(random.pick(characters))
  const value = () => {
    switch (random.below(5)) {
      case 0:
        return 'the same each time'
      case 1:
        // With this many short codes, Huffman coding pays off despite a long one.
        return `${'0'.repeat(60)}${character()}${'a'.repeat(30)}`
      case 2:
        return `a${Array.from({ length: random.below(60) }, character).join('')}z`
      case 3:
        return random.below(40) === 0 ? 'long'.repeat(8_000) : ''
      default:
        return String(random.below(10))
    }
  }
  return () => names.filter(() => random.below(2) === 0).map((name) => [name, value()] as const)
}

/** Joins the frames of field blocks: node:http2 sends neither padding nor priorities. */
function createBlockReader(onBlock: (block: Buffer, streamId: number) => void): (one: Frame) => void {
  let block: Buffer = Buffer.alloc(0)
  return function read({ type, flags, streamId, payload }) {
    if (type !== frameTypes.headers && type !== frameTypes.continuation) return
    block = type === frameTypes.headers ? payload : Buffer.concat([block, payload])
    if ((flags & endHeaders) !== 0) onBlock(block, streamId)
  }
}

function headersFrames(streamId: number, block: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at === 0 || at < block.length; at += 16_384) {
    const flags = (at + 16_384 >= block.length ? endHeaders : 0) | (at === 0 ? endStream : 0)
    pieces.push(
      frame(at === 0 ? 'headers' : 'continuation', flags, streamId, block.subarray(at, at + 16_384)),
    )
  }
  return Buffer.concat(pieces)
}

function encode(encoder: HpackEncoder, fields: Fields): Buffer {
  encoder.begin()
  for (const [name, value] of fields) encoder.add(name, value)
  return Buffer.from(encoder.end())
}

/** Takes the size of the table from the SETTINGS of the peer, and acknowledges them. */
function limitBySettings(encoder: HpackEncoder, socket: Socket, { type, flags, payload }: Frame): void {
  if (type !== frameTypes.settings || flags === acknowledged) return
  for (let at = 0; at < payload.length; at += 6)
    if (payload.readUInt16BE(at) === 1) encoder.limitTable(payload.readUInt32BE(at + 2))
  socket.write(frame('settings', acknowledged, 0))
}

/** Leaves out what a client sends first. */
function afterPreface(read: (chunk: Buffer) => void): (chunk: Buffer) => void {
  let left = preface.length
  return function readRest(chunk) {
    const rest = chunk.subarray(Math.min(chunk.length, left))
    left -= chunk.length - rest.length
    read(rest)
  }
}

t.test(`what node:http2 encodes is decoded as it was (seed ${seed})`, async (t) => {
  const decoder = new HpackDecoder()
  const received: string[][] = []
  let continuations = 0
  const url = await startRawBackend(t, (socket) => {
    socket.write(frame('settings', 0, 0))
    const readBlock = createBlockReader((block, streamId) => {
      const fields: string[] = []
      decoder.decode(block, fields, 1_000_000)
      received.push(fields)
      socket.write(frame('headers', endHeaders | endStream, streamId, Buffer.from([0x89])))
    })
    const read = createFrameReader((one) => {
      if (one.type === frameTypes.continuation) continuations++
      readBlock(one)
    })
    socket.on('data', afterPreface(read))
  })
  const session = connectHttp2(url, { settings: { headerTableSize: 4_096 } })
  t.teardown(() => session.destroy())
  const fields = createFields(seed)
  const expected: string[][] = []
  for (let count = 0; count < requests; count++) {
    const sent = fields()
    const path = `/${count % 7}`
    const stream = session.request({ ':path': path, ...Object.fromEntries(sent) })
    stream.resume()
    const pseudo = [':path', path, ':method', 'GET', ':authority', new URL(url).host, ':scheme', 'http']
    expected.push([...pseudo, ...sent.flat()])
    if (count % 10 === 0) await once(stream, 'close')
  }
  await until('all are received', () => received.length === requests)
  const sorted = (lists: readonly (readonly string[])[]) => lists.map(pairsOf)
  t.strictSame(sorted(received), sorted(expected))
  t.ok(continuations > 0, `${continuations} CONTINUATION frames`)
})

/** In an order of their own: that of pseudo-header fields is up to node:http2. */
function pairsOf(list: readonly string[]): readonly string[] {
  return list.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${list[index + 1]}`] : [])).toSorted()
}

/** Sizes of the table, set one after another while there are requests. */
const tableSizes = [4_096, 0, 100, 65_536, 33, 4_096, 1_000]

t.test(`a server of node:http2 reads the requests that are encoded here (seed ${seed})`, async (t) => {
  const received = new Map<number, readonly string[]>()
  const server = createServer().listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  server.on('session', (session) => session.on('error', (error) => t.fail(error.message)))
  server.on('stream', (stream, _headers, _flags, raw: readonly string[]) => {
    received.set(Number(stream.id), raw)
    // The cast is sound: a server's streams are of this class.
    const answering = stream as ServerHttp2Stream
    answering.respond({ ':status': 204 }, { endStream: true })
    const size = tableSizes[received.size % 50]
    if (size !== undefined) stream.session?.settings({ headerTableSize: size })
  })
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const encoder = new HpackEncoder()
  let resized = 0
  socket.on(
    'data',
    createFrameReader((one) => {
      if (one.type === frameTypes.settings && one.flags === 0) resized++
      limitBySettings(encoder, socket, one)
    }),
  )
  socket.write(Buffer.concat([preface, frame('settings', 0, 0)]))
  const fields = createFields(seed)
  for (let count = 0; count < requests; count++) {
    const sent: Fields = [
      ...([
        [':method', 'GET'],
        [':path', '/'],
        [':scheme', 'http'],
        [':authority', 'a'],
      ] as const),
      ...fields(),
    ]
    const read = once(server, 'stream')
    socket.write(headersFrames(2 * count + 1, encode(encoder, sent)))
    await read
    if (pairsOf(received.get(2 * count + 1) ?? []).join('\n') !== pairsOf(sent.flat()).join('\n'))
      return t.strictSame(received.get(2 * count + 1), sent.flat())
  }
  t.ok(resized > 20, `the size of the table was set ${resized} times`)
})

t.test(`a client of node:http2 reads the responses that are encoded here (seed ${seed})`, async (t) => {
  const fields = createFields(seed)
  const encoder = new HpackEncoder()
  let sent: Fields = []
  const url = await startRawBackend(t, (socket) => {
    socket.write(frame('settings', 0, 0))
    const readBlock = createBlockReader((_block, streamId) => {
      sent = [[':status', '200'], ...fields()]
      socket.write(headersFrames(streamId, encode(encoder, sent)))
    })
    const read = createFrameReader((one) => {
      limitBySettings(encoder, socket, one)
      readBlock(one)
    })
    socket.on('data', afterPreface(read))
  })
  const session = connectHttp2(url)
  session.on('error', (error) => t.fail(error.message))
  t.teardown(() => session.destroy())
  for (let count = 0; count < requests; count++) {
    const size = tableSizes[count % 50]
    if (size !== undefined) session.settings({ headerTableSize: size })
    const stream = session.request({ ':path': '/' })
    stream.resume()
    const [, , raw] = (await once(stream, 'response')) as [OutgoingHttpHeaders, number, string[]]
    if (pairsOf(raw).join('\n') !== pairsOf(sent.flat()).join('\n')) return t.strictSame(raw, sent.flat())
  }
  t.pass('all are the same')
})
