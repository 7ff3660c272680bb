import type { Case, Place } from '../case-context.ts'
import { readResponse, readToEnd } from '../wire.ts'

/** How the first line of a request is read, and what stands behind a request that asks for more. */

const echo = ({ line, wire }: { line: string; wire: { send(text: string): unknown } }) =>
  void wire.send(`HTTP/1.1 200 OK\r\nContent-Length: ${line.length}\r\n\r\n${line}`)

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

/** Everything in one segment: nothing behind an upgrade that is not taken may be lost. */
async function behindUpgrade({ upstream, connect }: Place, fields: string): Promise<unknown> {
  upstream.play(echo)
  const client = await connect()
  client.send(
    `GET /first HTTP/1.1\r\nHost: x\r\n${fields}\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\nGET /third HTTP/1.1\r\nHost: x\r\n\r\n`,
  )
  const bodies: string[] = []
  for (let turn = 0; turn < 3; turn++) bodies.push((await readResponse(client)).body)
  return bodies
}

const answersInOrder = ['GET /first HTTP/1.1', 'GET /second HTTP/1.1', 'GET /third HTTP/1.1']

/** The status of the answer to some bytes, the code of a problem, and whether anybody else was asked. */
async function judged({ upstream, connect }: Place, text: string): Promise<unknown> {
  upstream.play(echo)
  const before = upstream.lines.length
  const client = await connect()
  client.send(text)
  client.socket.end()
  const answer = await readToEnd(client)
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(answer) ?? []
  const [, code] = /"code":"([^"]+)"/.exec(answer) ?? []
  return [status, code, upstream.lines.slice(before)]
}

const invalid: Readonly<Record<string, string>> = {
  'HTTP/2.0 in the request line': 'GET / HTTP/2.0\r\nHost: x\r\n\r\n',
  'a preface of HTTP/2 that ends otherwise': 'PRI * HTTP/2.0\r\n\r\nSX\r\n\r\n',
  'a preface of HTTP/2 with a field': 'PRI * HTTP/2.0\r\nHost: x\r\n\r\nSM\r\n\r\n',
  'HTTP/0.9 in the request line': 'GET / HTTP/0.9\r\nHost: x\r\n\r\n',
  'HTTP/1.2 in lower case': 'GET / http/1.2\r\nHost: x\r\n\r\n',
  'no version': 'GET /\r\nHost: x\r\n\r\n',
  'two blanks in the request line': 'GET  / HTTP/1.1\r\nHost: x\r\n\r\n',
  'a tab in the request line': 'GET\t/\tHTTP/1.1\r\nHost: x\r\n\r\n',
  'a method of no token': 'G@T / HTTP/1.1\r\nHost: x\r\n\r\n',
  'a target that is not a path': 'GET foo HTTP/1.1\r\nHost: x\r\n\r\n',
  'an absolute target of another scheme': 'GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n',
  'an absolute target without a host': 'GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n',
}

export const frontCases: readonly Case[] = [
  {
    name: 'requests right behind a refused WebSocket upgrade are answered',
    run: (place) => behindUpgrade(place, upgrade),
    expected: answersInOrder,
  },
  {
    name: 'requests right behind an upgrade to another protocol are answered',
    run: (place) =>
      behindUpgrade(place, 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n'),
    expected: answersInOrder,
  },
  ...Object.entries(invalid).map(
    ([name, text]): Case => ({
      name: `${name} is refused, and reaches nobody`,
      run: async (place) => {
        const [status, , lines] = (await judged(place, text)) as [string, string, string[]]
        return [/^(?:400|505)$/.test(status) || status, lines]
      },
      expected: [true, []],
    }),
  ),
  ...['\x00', '\x01', '\t', '\x7f', '\x1f'].map(
    (character): Case => ({
      name: `a raw ${JSON.stringify(character)} in a path is ambiguous, and reaches nobody`,
      run: (place) => judged(place, `GET /a${character}b HTTP/1.1\r\nHost: x\r\n\r\n`),
      expected: ['400', 'path-ambiguous', []],
    }),
  ),
  {
    name: 'an absolute target is routed by its path',
    run: (place) => judged(place, 'GET http://elsewhere.example/a?b HTTP/1.1\r\nHost: x\r\n\r\n'),
    expected: ['200', undefined, ['GET /a?b HTTP/1.1']],
  },
  {
    name: 'empty lines before a request are skipped (RFC 9112 2.2)',
    run: (place) => judged(place, '\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n'),
    expected: ['200', undefined, ['GET / HTTP/1.1']],
  },
]
