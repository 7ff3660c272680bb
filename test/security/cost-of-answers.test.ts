import t, { type Test } from 'tap'
import { startRawBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { exchange, lineOf, requestBytes, tryAll } from './support/cost.ts'

/** The largest head of an answer, less what else it has: four times as long as that of a request. */
const head = { length: 65_000, maxMs: 10 }
/** The texts of many short lines become longer by what else the lines have. */
const lines = { ...head, length: 16_000 }

const fields: readonly string[] = [
  ...[
    'Content-Length',
    'Content-Length: 1',
    'Content-Length: 1…,1',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
  ],
  ...[
    'Keep-Alive: timeout=',
    'Upgrade',
    'Trailer',
    'Content-Type',
    'Content-Type: text/',
    'Content-Encoding',
    'Date',
  ],
  ...[
    'Location',
    'Location: http://',
    'Location: /',
    'Content-Location',
    'Set-Cookie',
    'Set-Cookie: accessToken=',
  ],
  ...[
    'Vary',
    'Cache-Control',
    'Expires',
    'WWW-Authenticate',
    'Proxy-Authenticate',
    'Access-Control-Allow-Origin',
  ],
  ...[
    'Access-Control-Expose-Headers',
    'Service-Worker-Allowed',
    'X-Cost',
    'X-Request-Id',
    'Retry-After',
    'Link',
    'Refresh',
    'X-Any',
  ],
]

async function start(t: Test) {
  let answer = Buffer.alloc(0)
  const backend = await startRawBackend(t, (socket) => socket.on('data', () => void socket.end(answer)))
  const { url } = await startGateway(t, {
    backend,
    config: {
      cors: { origins: ['https://app.example.com'] },
      accessCookie: { enabled: true },
      routes: [
        { name: 'open', path: '/open', upstream: 'backend', auth: 'none', websocket: true },
        { name: 'stripped', path: '/stripped', upstream: 'backend', auth: 'none', stripPrefix: true },
        { name: 'costly', path: '/costly', upstream: 'backend', auth: 'none', costHeader: 'X-Cost' },
        {
          name: 'browser',
          path: '/browser',
          upstream: 'backend',
          auth: 'optional',
          browser: { cookie: true },
        },
      ],
    },
  })
  /** @param lines of the request, after its Host */
  return (path: string, text: string, lines: readonly string[] = []) => {
    answer = Buffer.from(text, 'latin1')
    return exchange(url, requestBytes([`GET ${path} HTTP/1.1`, 'Host: gateway.test', ...lines]))
  }
}

t.test('no field of an answer keeps the event loop for long', async (t) => {
  const ask = await start(t)
  for (const path of ['/stripped', '/browser'])
    await tryAll(t, fields, head, (field, text) =>
      ask(path, `HTTP/1.1 200 OK\r\n${lineOf(field, text)}\r\nContent-Length: 0\r\n\r\n`),
    )
  await tryAll(t, ['X-Cost', 'Trailer', 'X-Any'], head, (field, text) =>
    ask('/costly', `HTTP/1.1 200 OK\r\n${lineOf(field, text)}\r\nContent-Length: 0\r\n\r\n`),
  )
  const handshake = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ]
  await tryAll(
    t,
    ['Connection', 'Upgrade', 'Sec-WebSocket-Protocol', 'Sec-WebSocket-Accept'],
    head,
    (field, text) =>
      ask('/open', `HTTP/1.1 101 OK\r\n${lineOf(field, text)}\r\nUpgrade: websocket\r\n\r\n`, handshake),
  )
})

t.test(
  'no status line, number of fields, chunk or trailer field of an answer keeps the event loop for long',
  async (t) => {
    const ask = await start(t)
    const ok = 'HTTP/1.1 200 OK\r\n'
    const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`
    const answers: Readonly<Record<string, (text: string) => string>> = {
      'a status line': (text) => `HTTP/1.1 200 ${text}\r\nContent-Length: 0\r\n\r\n`,
      'no status line': (text) => text,
      'the name of a field': (text) => `${ok}${text}: a\r\nContent-Length: 0\r\n\r\n`,
      'names of fields': (text) => `${ok}${linesOf(text, (part) => `${part}: a`)}Content-Length: 0\r\n\r\n`,
      'values of Connection': (text) =>
        `${ok}${linesOf(text, (part) => `Connection: ${part}`)}Content-Length: 0\r\n\r\n`,
      'values of Vary': (text) => `${ok}${linesOf(text, (part) => `Vary: ${part}`)}Content-Length: 0\r\n\r\n`,
      cookies: (text) => `${ok}${linesOf(text, (part) => `Set-Cookie: ${part}`)}Content-Length: 0\r\n\r\n`,
      'an extension of a chunk': (text) => `${chunked}1${text}\r\na\r\n0\r\n\r\n`,
      'extensions of chunks': (text) => `${chunked}${linesOf(text, (part) => `1;${part}\r\na`)}0\r\n\r\n`,
    }
    await tryAll(t, Object.keys(answers), lines, (name, text) => ask('/browser', answers[name]?.(text) ?? ''))
    await tryAll(t, ['X-Any: ', 'Set-Cookie: ', ''], { ...head, length: 16_000 }, (start, text) =>
      ask('/browser', `${chunked}0\r\n${start}${text}\r\n\r\n`, ['TE: trailers']),
    )
  },
)

/** A line for each piece of a text, of a few characters. */
function linesOf(text: string, write: (part: string) => string): string {
  return (text.match(/[^\r\n]{1,4}/g) ?? []).map((part) => `${write(part)}\r\n`).join('')
}
