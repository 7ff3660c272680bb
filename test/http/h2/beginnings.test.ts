import t, { type Test } from 'tap'
import { certificateFiles, connectTls } from '../../gateway/support/tls.ts'
import { startBoth } from '../../setup/both.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { ask, codeOf, connectHttp2 } from './ask.ts'
import {
  endHeaders,
  endStream,
  fieldBlock,
  frame,
  frameTypes,
  openRawSession,
  requestBlock,
} from './frames.ts'

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const settings = frame('settings', 0, 0)
const requestTimeoutMs = 1_000

async function start(t: Test, config: Readonly<Record<string, unknown>> = {}) {
  return startBoth(t, { config })
}

/** A head of HEAD that cannot be read, or is too large. */
const unreadable: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'a control character': [['x-bad', 'a\x01b']],
  'two lengths': [
    ['content-length', '1'],
    ['content-length', '2'],
  ],
  'too large a head': Array.from({ length: 300 }, (_, index) => [`x-${index}`, 'y'.repeat(100)] as const),
  'another scheme': [[':scheme', 'ftp']],
}

t.test('the answer to a HEAD whose head cannot be read has no DATA', async (t) => {
  const gateway = await start(t)
  for (const [what, fields] of Object.entries(unreadable)) {
    const session = await openRawSession(t, gateway.url)
    const block = fieldBlock([
      [':method', 'HEAD'],
      [':path', '/public/x'],
      [':authority', 'a'],
      ...(what === 'another scheme' ? [] : [[':scheme', 'http'] as const]),
      ...fields,
    ])
    // In frames as large as may be.
    const pieces = [block.subarray(0, 16_384), block.subarray(16_384, 32_768), block.subarray(32_768)]
    const whole = pieces.filter(({ length }, index) => index === 0 || length > 0)
    const frames = whole.map((piece, index) => {
      const end = index === whole.length - 1 ? endHeaders : 0
      return index === 0 ? frame('headers', end | endStream, 1, piece) : frame('continuation', end, 1, piece)
    })
    session.socket.write(Buffer.concat(frames))
    await until(what, () => session.ended[0])
    t.strictSame(
      [session.received.get(frameTypes.headers), session.received.get(frameTypes.data)],
      [1, undefined],
    )
  }
})

/** What a client sends of a connection, and then leaves it at that. */
const unfinished: Readonly<Record<string, Buffer>> = {
  'no SETTINGS': Buffer.from(preface),
  'half of SETTINGS': Buffer.concat([
    Buffer.from(preface),
    frame('settings', 0, 0, Buffer.alloc(6)).subarray(0, 12),
  ]),
  'half of a frame head': Buffer.concat([Buffer.from(preface), settings, Buffer.from([0, 0, 1, 1])]),
  'half of HEADERS': Buffer.concat([
    Buffer.from(preface),
    settings,
    frame('headers', endHeaders | endStream, 1, requestBlock('/public/x')).subarray(0, 20),
  ]),
  'HEADERS without the end of the head': Buffer.concat([
    Buffer.from(preface),
    settings,
    frame('headers', endStream, 1, requestBlock('/public/x')),
  ]),
  'half of a preface': Buffer.from(preface.slice(0, 20)),
}

t.test('what is not finished within requestTimeout ends its connection', async (t) => {
  const gateway = await start(t, { listen: { port: 0, requestTimeout: `${requestTimeoutMs}ms` } })
  const ends = Object.entries(unfinished).map(async ([what, bytes]) => {
    const client = await connectRaw(t, gateway.url)
    const begin = performance.now()
    client.socket.write(bytes)
    await client.ended()
    const ms = performance.now() - begin
    t.ok(ms >= requestTimeoutMs - 50 && ms < 10 * requestTimeoutMs, `${what}: ${Math.round(ms)} ms`)
  })
  await Promise.all(ends)
})

t.test('a head that comes in many frames has no more time than another', async (t) => {
  const gateway = await start(t, { listen: { port: 0, requestTimeout: `${requestTimeoutMs}ms` } })
  const session = await openRawSession(t, gateway.url)
  const begin = performance.now()
  session.socket.write(frame('headers', 0, 1, requestBlock('/public/x')))
  const timer = setInterval(
    () => session.socket.write(frame('continuation', 0, 1, fieldBlock([['x', 'y']]))),
    200,
  )
  t.teardown(() => clearInterval(timer))
  await until('it is ended', () => session.goawayCode() !== undefined || session.socket.destroyed)
  t.equal(session.goawayCode(), 11)
  t.ok(performance.now() - begin < 10 * requestTimeoutMs)
})

t.test('heads that are finished in time may come in halves for longer than requestTimeout', async (t) => {
  const gateway = await start(t, { listen: { port: 0, requestTimeout: `${requestTimeoutMs}ms` } })
  const session = await openRawSession(t, gateway.url)
  const begin = performance.now()
  for (let id = 1; performance.now() - begin < 3 * requestTimeoutMs; id += 2) {
    const next = frame('headers', endHeaders | endStream, id + 2, requestBlock('/public/x'))
    const whole = frame('headers', endHeaders | endStream, id, requestBlock('/public/x'))
    // Each read ends within a head.
    session.socket.write(Buffer.concat([id === 1 ? whole : whole.subarray(20), next.subarray(0, 20)]))
    await until('it is answered', () => session.ended.includes(id) || session.socket.destroyed || undefined)
  }
  t.equal(session.goawayCode(), undefined)
})

t.test('the preface of HTTP/2 may come byte by byte', async (t) => {
  const gateway = await start(t)
  const client = await connectRaw(t, gateway.url)
  client.socket.setNoDelay(true)
  for (const byte of preface) {
    client.send(byte)
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  client.socket.write(settings)
  t.equal((await client.readUntil('\x00\x00\x00\x04\x01')).length > 0, true, 'its SETTINGS are acknowledged')
  const other = await connectRaw(t, gateway.url)
  other.socket.setNoDelay(true)
  for (const byte of 'PROPFIND /public/x HTTP/1.1\r\nHost: x\r\n\r\n') {
    other.send(byte)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.equal((await other.response()).status, 200)
})

const schemes: readonly (readonly [scheme: string, plain: number, tls: number, trusted: number])[] = [
  ['http', 200, 400, 200],
  ['HTTP', 200, 400, 200],
  ['https', 400, 200, 200],
  ['ftp', 400, 400, 400],
  ['httpx', 400, 400, 400],
  ['', 400, 400, 400],
  ['http,https', 400, 400, 400],
]

t.test('the scheme of a request is that of its connection, or what a trusted proxy says', async (t) => {
  const certificate = makeCertificate(t, 'DNS:localhost,IP:127.0.0.1')
  const { tls } = certificateFiles(t, certificate)
  const trustedProxies = ['127.0.0.1']
  const [plain, encrypted, trusted, trustedTls] = [
    await start(t),
    await start(t, { listen: { port: 0, tls } }),
    await start(t, { trustedProxies }),
    await start(t, { trustedProxies, listen: { port: 0, tls } }),
  ]
  const open = (url: string) => connectHttp2(t, url, certificate.cert)
  const sessions = await Promise.all([plain, encrypted, trusted, trustedTls].map(({ url }) => open(url)))
  for (const [scheme, ...statuses] of schemes) {
    for (const [index, session] of sessions.entries()) {
      // Again, as heads that repeat are read once.
      for (let turn = 0; turn < 4; turn++) {
        const answer = await ask(session, '/public/x', { headers: { ':scheme': scheme } })
        const expected = statuses[Math.min(index, 2)]
        t.equal(answer.status, expected, `${scheme}, ${index}`)
        if (answer.status === 400) t.equal(codeOf(answer), 'request-invalid')
      }
    }
  }
})

t.test('over TLS only ALPN begins HTTP/2', async (t) => {
  const certificate = makeCertificate(t, 'DNS:localhost,IP:127.0.0.1')
  const { tls } = certificateFiles(t, certificate)
  const gateway = await start(t, { listen: { port: 0, tls } })
  for (const ALPNProtocols of [['http/1.1'], []]) {
    const client = await connectTls(t, gateway.url, { ca: certificate.cert, ALPNProtocols })
    client.send(preface)
    t.equal((await client.response()).status, 400)
    await client.ended()
  }
})
