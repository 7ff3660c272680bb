import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import * as tls from 'node:tls'
import t, { type Test } from 'tap'
import { ChunkedDecoder } from '#http/message/chunked-decoder.ts'
import { KeptChunks } from '#http/message/kept-bytes.ts'
import { ResponseParser } from '#http/outgoing/response-parser.ts'
import { RequestReader } from '#http/server/request-reader.ts'
import { DirectSocketReader, deliveriesPerTurnMax } from '#http/socket-reader.ts'
import { names, readHeads } from '../http/server/read-heads.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { portOf, until } from '../setup/net.ts'

// timed: how long messages in pieces of one byte take

/** If each piece were joined with all that came before it, these would take ten seconds and more. */
const length = 60_000
const msMax = 2_000

function onePieceEach(text: string): readonly Buffer[] {
  return Array.from(Buffer.from(text, 'latin1'), (byte) => Buffer.of(byte))
}

const ignore = () => {}
const readerEvents = {
  onHeadStart: ignore,
  onHead: ignore,
  onBodyData: ignore,
  onBodyEnd: ignore,
  onParseError: ignore,
  onDiscard: ignore,
  onInputEnd: ignore,
}
const responseEvents = {
  onInformation: ignore,
  onUpgrade: ignore,
  onHead: ignore,
  onData: ignore,
  onEnd: ignore,
}

const parts: Readonly<Record<string, (t: Test) => void>> = {
  'a target': (t) => {
    const pieces = onePieceEach(`GET /${'a'.repeat(length)} HTTP/1.1\r\nHost: a\r\n\r\n`)
    const { heads } = readHeads(pieces, 2 * length)
    t.equal(heads[0]?.target.length, length + 1)
  },
  'the lines of a head': (t) => {
    const pieces = onePieceEach(`GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(length / 4)}\r\n`)
    t.equal(readHeads(pieces, 2 * length).heads[0]?.rawHeaders.length, 2 + length / 2)
  },
  'trailers, many times the longest that are allowed': (t) => {
    for (let round = 0; round < 10; round++) {
      const decoder = new ChunkedDecoder(ignore)
      for (const piece of onePieceEach(`0\r\n${'a:\r\n'.repeat(4_000)}\r\n`)) decoder.feed(piece)
      t.equal(decoder.trailers?.length, 8_000)
    }
  },
  'what is sent behind a request in flight': (t) => {
    const source = { pause: ignore, resume: ignore, yieldTurn: ignore }
    const options = { headBytesMax: 16_384, names: () => names }
    const reader = new RequestReader(source, options, readerEvents)
    const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
    for (const piece of onePieceEach(request + 'a'.repeat(length))) reader.feed(piece)
    t.equal(reader.buffered?.length, length)
  },
  'the head of a response': (t) => {
    let status = 0
    const events = {
      ...responseEvents,
      onHead: (head: { readonly status: number }) => (status = head.status),
    }
    const parser = new ResponseParser(events)
    parser.begin({ method: 'GET', isUpgrade: false })
    const text = `HTTP/1.1 204 No Content\r\nA: ${'a'.repeat(length)}\r\n\r\n`
    for (const piece of onePieceEach(text)) parser.feed(piece)
    t.equal(status, 204)
  },
}

for (const [what, feed] of Object.entries(parts)) {
  t.test(`${what}, byte by byte, cost no more than their length`, async (t) => {
    const began = performance.now()
    feed(t)
    const taken = performance.now() - began
    t.ok(taken < msMax, `${taken} ms`)
  })
}

t.test(
  'chunks of a byte that are kept are joined, and those that were returned stay as they are',
  async (t) => {
    const kept = new KeptChunks()
    const text = 'abcdefgh'.repeat(8_192)
    const returned = onePieceEach(text).map((piece) => kept.add(piece))
    t.equal(Buffer.concat(returned).toString(), text)
    t.equal(Buffer.concat(kept.chunks).toString(), text)
    t.equal(kept.chunks.length, 16)
    t.equal(kept.bytes, text.length)
    kept.add(Buffer.alloc(10_000))
    kept.add(Buffer.alloc(10))
    t.strictSame(
      kept.chunks.slice(16).map((chunk) => chunk.length),
      [10_000, 10],
    )
  },
)

t.test('bytes that cannot become a head are refused before its end, in pieces too', async (t) => {
  const start = 'GET / HTTP/1.1\r\nHost: a\r\n'
  for (const filler of [0, 900, 5_000, 12_000]) {
    const sent = `${start}A: ${'a'.repeat(filler)}\r\nB: \0`
    const more = 'b'.repeat(Math.ceil(sent.length / 16))
    t.equal(readHeads(onePieceEach(sent + more)).refusal, 'field-line', `${filler} bytes before it`)
  }
})

t.test('records of TLS with a byte each are taken in portions, a turn of the event loop each', async (t) => {
  const { cert, key } = makeCertificate(t, 'DNS:localhost')
  let turn = 0
  let next = setImmediate(function count() {
    turn++
    next = setImmediate(count)
  })
  t.teardown(() => clearImmediate(next))
  const turns: number[] = []
  const server = tls.createServer({ cert, key }, (socket: Socket) => {
    new DirectSocketReader(socket, () => turns.push(turn) > 0)
    socket.on('error', ignore)
  })
  t.teardown(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { client, flush } = await connectHeld(t, portOf(server))
  const count = 10_000
  // One after the other, as waiting writes would be joined in one record.
  for (let index = 0; index < count; index++) await new Promise<unknown>((done) => client.write('a', done))
  flush()
  await until('all have come', () => turns.length === count || undefined)
  const most = Math.max(...[...Map.groupBy(turns, (each) => each).values()].map((each) => each.length))
  // Node delivers all records of a read, of 64 KiB; one of a byte takes 23.
  t.ok(most <= deliveriesPerTurnMax + 65_536 / 23, `${most} in one turn`)
})

/** A client over TLS whose records are held back, and then sent at once. */
async function connectHeld(t: Test, port: number) {
  const wire = connect(port, '127.0.0.1')
  const held: Buffer[] = []
  let isHeld = false
  const between = new Duplex({
    read: ignore,
    write: (chunk: Buffer, _encoding, done) => {
      if (isHeld) held.push(chunk)
      else wire.write(chunk)
      done()
    },
  })
  wire.on('data', (chunk) => between.push(chunk))
  const client = tls.connect({ socket: between, rejectUnauthorized: false })
  t.teardown(() => {
    client.destroy()
    wire.destroy()
  })
  await once(client, 'secureConnect')
  isHeld = true
  return { client, flush: () => void wire.write(Buffer.concat(held)) }
}
