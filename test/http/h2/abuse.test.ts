import { once } from 'node:events'
import t, { type Test } from 'tap'
import { startServer } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { ask, codeOf, connectHttp2 } from './ask.ts'
import {
  endHeaders,
  endStream,
  frame,
  frameTypes,
  openRawSession,
  type RawSession,
  requestBlock,
  uint32,
} from './frames.ts'

async function start(t: Test, config = {}) {
  const backend = await startServer(t, (request, response) => {
    request.on('error', () => {}).on('end', () => response.end('ok'))
    request.resume()
  })
  const gateway = await startGateway(t, { backend, config })
  const { secretKey: secretkey } = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.url)
  const served = async () => (await ask(session, '/any/x', { headers: { secretkey } })).status
  t.equal(await served(), 200)
  return { gateway, secretkey, served }
}

/** Sends it a thousand times at most, until the gateway has had enough. @returns how often it was sent */
async function flood({ socket }: RawSession, piece: (index: number) => Buffer): Promise<number> {
  let sent = 0
  const closed = new Promise((resolve) => socket.once('close', resolve))
  while (!socket.destroyed && sent < 1_000) {
    for (let index = 0; index < 100; index++) socket.write(piece(sent * 100 + index))
    sent++
    await new Promise((resolve) => setImmediate(resolve))
  }
  await closed
  return sent
}

const floods: readonly { readonly name: string; piece(index: number, secretkey: string): Buffer }[] = [
  {
    name: 'requests that are reset at once',
    piece: (index) =>
      Buffer.concat([
        frame('headers', endHeaders | endStream, 2 * index + 1, requestBlock('/any/x')),
        frame('resetStream', 0, 2 * index + 1, Buffer.from([0, 0, 0, 8])),
      ]),
  },
  {
    name: 'a head that never ends',
    piece: (index) =>
      index === 0
        ? frame('headers', 0, 1, requestBlock('/any/x'))
        : frame('continuation', 0, 1, requestBlock('/any/x').subarray(0, 0)),
  },
  { name: 'settings', piece: () => frame('settings', 0, 0, Buffer.from([0, 3, 0, 0, 0, 1])) },
  { name: 'empty settings', piece: () => frame('settings', 0, 0) },
  { name: 'pings', piece: () => frame('ping', 0, 0, Buffer.alloc(8)) },
  { name: 'answers to no ping', piece: () => frame('ping', 0x1, 0, Buffer.alloc(8)) },
  { name: 'answers to no settings', piece: () => frame('settings', 0x1, 0) },
  { name: 'window updates of a connection', piece: () => frame('windowUpdate', 0, 0, uint32(1)) },
  {
    name: 'window updates of a stream',
    piece: (index, secretkey) => (index === 0 ? bodyHead(secretkey) : frame('windowUpdate', 0, 1, uint32(1))),
  },
  { name: 'priorities', piece: () => frame('priority', 0, 3, Buffer.alloc(5)) },
  {
    name: 'resets of a stream that is over',
    piece: (index, secretkey) => (index === 0 ? bodyHead(secretkey) : frame('resetStream', 0, 1, uint32(8))),
  },
  {
    name: 'empty pieces of a body',
    piece: (index, secretkey) => (index === 0 ? bodyHead(secretkey) : frame('data', 0, 1)),
  },
  {
    name: 'more requests at a time than allowed',
    piece: (index, secretkey) => bodyHead(secretkey, 2 * index + 1),
  },
  {
    name: 'bodies longer than they should be',
    piece: (index, secretkey) =>
      Buffer.concat([bodyHead(secretkey, 2 * index + 1), frame('data', 0, 2 * index + 1, Buffer.alloc(6))]),
  },
  {
    name: 'pieces of a body that are padding alone',
    piece: (index, secretkey) =>
      index === 0 ? bodyHead(secretkey) : frame('data', padded, 1, Buffer.from([0])),
  },
]

const padded = 0x8

/** A request with a body of five bytes. */
function bodyHead(secretkey: string, streamId = 1): Buffer {
  const fields = [
    ['content-length', '5'],
    ['secretkey', secretkey],
  ] as const
  return frame('headers', endHeaders, streamId, requestBlock('/any/x', fields))
}

t.test('floods of frames end their connection, and nobody else waits', async (t) => {
  const { gateway, secretkey, served } = await start(t)
  for (const { name, piece } of floods) {
    const session = await openRawSession(t, gateway.url)
    // Acknowledgements are not read: that is what makes such floods dear.
    if (/^(pings|settings|empty settings)$/.test(name)) session.socket.pause()
    const [batches, status] = await Promise.all([
      flood(session, (index) => piece(index, secretkey)),
      served(),
    ])
    t.equal(status, 200, name)
    t.ok(batches < 1_000, `${name}: ended after ${batches * 100} frames`)
  }
  const logged = gateway.logLines.filter((line) => line.includes('HTTP/2 connections cut off'))
  t.ok(logged.length >= 1 && logged.length <= 2, `logged ${logged.length} times`)
})

t.test('a head that is too large gets 431, and one far too large is reset', async (t) => {
  const { gateway, served } = await start(t)
  const session = await connectHttp2(t, gateway.url)
  const sizeOf = (bytes: number) =>
    Object.fromEntries(chunksOf(bytes).map((text, index) => [`x-${index}`, text]))
  t.equal((await ask(session, '/any/x', { headers: sizeOf(15_000) })).status, 401)
  const large = await ask(session, '/any/x', { headers: sizeOf(17_000) })
  t.equal(`${large.status} ${codeOf(large)}`, '431 headers-too-large')
  const raw = await openRawSession(t, gateway.url)
  // One large field in the dynamic table, then named ten thousand times (RFC 7541 6.1): 40 MB from 14 KB.
  const bomb = Buffer.concat([
    requestBlock('/any/x'),
    Buffer.from([0x40, 1, 0x62, 0x7f, 0xe1, 0x1e]),
    Buffer.alloc(4_000, 'x'),
    Buffer.alloc(10_000, 0xbe),
  ])
  raw.socket.write(frame('headers', endHeaders | endStream, 1, bomb))
  await until('it is refused', () => raw.received.has(frameTypes.resetStream) || raw.socket.destroyed)
  t.equal(await served(), 200)
})

t.test('a pseudo-header field sent twice, or behind others, resets its request', async (t) => {
  const { gateway, secretkey, served } = await start(t)
  const session = await openRawSession(t, gateway.url)
  for (const [index, name] of [':method', ':path', ':scheme', ':authority'].entries()) {
    const before = session.received.get(frameTypes.resetStream) ?? 0
    const twice = requestBlock('/any/x', [
      [name, name === ':path' ? '/any/y' : 'GET'],
      ['secretkey', secretkey],
    ])
    session.socket.write(frame('headers', endHeaders | endStream, 2 * index + 1, twice))
    await until(name, () => session.received.get(frameTypes.resetStream) === before + 1)
  }
  t.equal(session.received.get(frameTypes.headers), undefined, 'none is answered')
  t.equal(await served(), 200)
})

t.test('a connection without requests is closed after listen.keepAliveTimeout', async (t) => {
  const { gateway, secretkey } = await start(t, { listen: { port: 0, keepAliveTimeout: '1s' } })
  const [idle, silent, pinging] = [
    await connectHttp2(t, gateway.url),
    await connectRaw(t, gateway.url),
    await connectHttp2(t, gateway.url),
  ]
  silent.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const begin = performance.now()
  await ask(idle, '/any/x', { headers: { secretkey } })
  const pings = setInterval(() => pinging.ping(() => {}), 200)
  t.teardown(() => clearInterval(pings))
  await once(idle, 'close')
  const ms = performance.now() - begin
  t.ok(ms > 1_000 && ms < 6_000, `${ms} ms`)
  await silent.ended()
  t.equal((await ask(pinging, '/any/x', { headers: { secretkey } })).status, 200, 'PINGs keep one open')
  clearInterval(pings)
  await once(pinging, 'close')
})

function chunksOf(bytes: number): string[] {
  return Array.from({ length: Math.ceil(bytes / 1_000) }, () => 'x'.repeat(990))
}

t.test('more requests at a time than allowed are refused, and may be sent again', async (t) => {
  const { gateway, served } = await start(t, { limits: { streams: 10 } })
  const raw = await openRawSession(t, gateway.url)
  // A body is announced, so that each stays open.
  const open = (index: number) =>
    frame('headers', endHeaders, 2 * index + 1, requestBlock('/any/x', [['secretkey', 'x']]))
  for (let index = 0; index < 11; index++) raw.socket.write(open(index))
  await until('the eleventh is refused', () => raw.received.has(frameTypes.resetStream))
  t.equal(await served(), 200)
})

t.test('a client that takes nothing holds up nobody, and no more than a little is read for it', async (t) => {
  let written = 0
  const { served } = await start(t)
  const big = await startServer(t, (_request, response) => {
    const piece = Buffer.alloc(65_536)
    const fill = () => {
      while (written < 64 * 1024 * 1024) {
        written += piece.length
        if (!response.write(piece)) {
          response.once('drain', fill)
          return
        }
      }
      response.end()
    }
    fill()
  })
  const other = await startGateway(t, { backend: big })
  const { secretKey } = await other.createAccount()
  const initialWindowSize = 4
  const raw = await openRawSession(t, other.url, [[initialWindowSize, 0]])
  raw.socket.write(
    frame('headers', endHeaders | endStream, 1, requestBlock('/any/x', [['secretkey', secretKey]])),
  )
  await until('the head is there', () => raw.received.has(frameTypes.headers))
  let before = -1
  await until('the backend has to wait', async () => {
    const isStill = before === written
    before = written
    await new Promise((resolve) => setTimeout(resolve, 100))
    return isStill
  })
  t.ok(written < 16 * 1024 * 1024, `${written} bytes were read ahead`)
  t.equal(await served(), 200)
})
