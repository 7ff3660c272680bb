import type { Readable, Writable } from 'node:stream'
import { until } from '../../setup/net.ts'
import { type Case, type Place, rssOf } from '../case-context.ts'
import { readHead, readResponse } from '../wire.ts'

const mebibyte = 1_048_576
const total = 100 * mebibyte
/** What a proxy and the sockets before and behind it may hold back. */
const heldMax = 32 * mebibyte
const piece = Buffer.alloc(65_536, 'x')
const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

/** Each event is sent only when the previous one has arrived: with any buffer between, this hangs. */
async function events({ upstream, connect }: Place): Promise<unknown> {
  const arrived = Array.from({ length: 5 }, () => Promise.withResolvers<void>())
  upstream.play(async ({ wire }) => {
    wire.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const [index, { promise }] of arrived.entries()) {
      wire.send(`9\r\ndata: ${index}\n\n\r\n`)
      await promise
    }
    wire.send('0\r\n\r\n')
  })
  const client = await connect()
  client.send(get)
  const seen: string[] = []
  for (const { resolve } of arrived) {
    seen.push(/data: \d/.exec(await client.readUntil('\n\n'))?.[0] ?? '')
    resolve()
  }
  await client.readUntil('0\r\n\r\n')
  return seen
}

/** The head of an answer is there before the first byte of its body. */
async function headFirst({ upstream, connect }: Place): Promise<unknown> {
  const isRead = Promise.withResolvers<void>()
  upstream.play(async ({ wire }) => {
    wire.send('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n')
    await isRead.promise
    wire.send('late')
  })
  const client = await connect()
  client.send(get)
  const { line } = await readHead(client)
  isRead.resolve()
  return [line, (await client.readBytes(4)).toString()]
}

/** Question and answer within one request: each word of the client is answered before it sends the next. */
async function conversation({ upstream, connect }: Place): Promise<unknown> {
  upstream.play(async ({ wire }) => {
    wire.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (let turn = 0; turn < 4; turn++) {
      await wire.readUntil('\r\n')
      const word = (await wire.readUntil('\r\n')).slice(0, -2)
      wire.send(`${(word.length + 1).toString(16)}\r\n${word}!\r\n`)
    }
    await wire.readUntil('0\r\n\r\n')
    wire.send('0\r\n\r\n')
  })
  const client = await connect()
  client.send('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  const heard: string[] = []
  await readHead(client)
  for (const word of ['one', 'two', 'three', 'four']) {
    client.send(`${word.length.toString(16)}\r\n${word}\r\n`)
    heard.push(/[a-z]+!/.exec(await client.readUntil('!\r\n'))?.[0] ?? '')
  }
  client.send('0\r\n\r\n')
  await client.readUntil('0\r\n\r\n')
  return heard
}

async function longPoll({ upstream, connect }: Place): Promise<unknown> {
  upstream.play(async ({ wire }) => {
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    wire.send('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnews')
  })
  const client = await connect()
  client.send(get)
  return (await readResponse(client)).body
}

/** Writes as fast as the other side takes it. @returns how much has been written so far */
function writeAll(to: Writable): () => number {
  let written = 0
  function write(): void {
    while (written < total) {
      written += piece.length
      if (!to.write(piece)) return
    }
    to.off('drain', write)
  }
  to.on('drain', write)
  write()
  return () => written
}

/** Resolves once the writer has stood still for a while: nobody takes more. */
async function untilHeldUp(written: () => number): Promise<void> {
  let last = -1
  let since = performance.now()
  await until('the writer has backpressure', () => {
    if (written() !== last) since = performance.now()
    last = written()
    return last > 0 && performance.now() - since > 300 ? true : undefined
  })
}

function countAll(from: Readable, before: number): Promise<number> {
  let count = before
  return new Promise((resolve, reject) => {
    from.on('data', (data: Buffer) => {
      count += data.length
      if (count >= total) resolve(count)
    })
    from.on('close', () => reject(new Error(`closed after ${count} bytes`)))
    from.resume()
  })
}

/** A reader that reads nothing for a while holds the writer up, and nobody between keeps what was written. */
async function slowReader({ upstream, connect, subject }: Place, path = '/', restMs = 0): Promise<unknown> {
  let written = () => 0
  upstream.play(({ wire }) => {
    wire.send(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
    written = writeAll(wire.socket)
  })
  const client = await connect()
  const before = rssOf(subject)
  client.send(get.replace('/', path))
  await client.readUntil('\r\n\r\n')
  client.socket.removeAllListeners('data').pause()
  await untilHeldUp(() => written())
  await new Promise((resolve) => setTimeout(resolve, restMs))
  const held = written()
  const growth = rssOf(subject) - before
  const received = await countAll(client.socket, client.rest().length)
  return { isHeldUp: held < total, isFlat: growth <= heldMax || growth, received }
}

async function slowUpstream({ upstream, connect, subject }: Place): Promise<unknown> {
  const wantsMore = Promise.withResolvers<void>()
  const received = Promise.withResolvers<number>()
  upstream.play(async ({ wire }) => {
    wire.socket.removeAllListeners('data').pause()
    await wantsMore.promise
    received.resolve(await countAll(wire.socket, wire.rest().length))
    wire.send('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok')
    wire.socket.end()
  })
  const client = await connect()
  const before = rssOf(subject)
  client.send(`PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: ${total}\r\n\r\n`)
  const written = writeAll(client.socket)
  await untilHeldUp(written)
  const held = written()
  const growth = rssOf(subject) - before
  wantsMore.resolve()
  const count = await received.promise
  return {
    isHeldUp: held < total,
    isFlat: growth <= heldMax || growth,
    received: count,
    answer: (await readResponse(client)).body,
  }
}

export const streamCases: readonly Case[] = [
  {
    name: 'every event arrives before the next is sent',
    run: events,
    expected: ['data: 0', 'data: 1', 'data: 2', 'data: 3', 'data: 4'],
  },
  { name: 'a head arrives before its body', run: headFirst, expected: ['HTTP/1.1 200 OK', 'late'] },
  {
    name: 'both bodies of a request flow at once',
    run: conversation,
    expected: ['one!', 'two!', 'three!', 'four!'],
  },
  { name: 'a long poll is waited for', run: longPoll, expected: 'news' },
  {
    name: 'a client that does not read causes backpressure upstream, and 100 MiB take no memory',
    run: (place) => slowReader(place),
    expected: { isHeldUp: true, isFlat: true, received: total },
  },
  {
    name: 'an upstream that does not read causes backpressure on the client, and 100 MiB take no memory',
    run: slowUpstream,
    expected: { isHeldUp: true, isFlat: true, received: total, answer: 'ok' },
  },
  {
    // Silence of the upstream is its own only while somebody would hear it.
    name: 'a client that reads nothing for longer than timeouts.idle keeps its download',
    run: (place) => slowReader(place, '/impatient', 2_500),
    expected: { isHeldUp: true, isFlat: true, received: total },
  },
]
