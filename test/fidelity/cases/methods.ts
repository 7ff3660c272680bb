import { METHODS } from 'node:http'
import type { Case, Place } from '../case-context.ts'
import { exchangeCase } from '../exchange.ts'
import { readResponse } from '../wire.ts'

/** Tokens that no registry has (RFC 9110 9.1): a method is case-sensitive, and for the upstream to judge. */
const unknown = [
  'QUERY',
  'FROBNICATE',
  'get',
  'Post',
  'X',
  'BASELINE-CONTROL',
  'VERSION-CONTROL',
  'UPDATEREDIRECTREF',
  'a.b',
  'x_y',
  "!#$%&'*+-.^_`|~09",
  'M'.repeat(40),
]

const methods = [...METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE'), ...unknown]

export const methodCases: readonly Case[] = [
  ...methods.map((method) =>
    exchangeCase(
      `${method} is passed on as it is`,
      { request: `${method} /a?b HTTP/1.1\r\n\r\n` },
      ({ asked, answers }) => [asked.line, answers[0]?.line],
      [`${method} /a?b HTTP/1.1`, 'HTTP/1.1 200 OK'],
    ),
  ),
  ...methods.map((method) =>
    exchangeCase(
      `${method} may have a body`,
      { request: `${method} / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello` },
      ({ asked }) => [asked.line, asked.framing, asked.body],
      [`${method} / HTTP/1.1`, 'counted', 'hello'],
    ),
  ),
  {
    name: 'TRACE is answered 405 and reaches nobody',
    run: (place) => refused(place, 'TRACE /'),
    expected: [405, []],
  },
  {
    name: 'CONNECT is answered 405 and reaches nobody',
    run: (place) => refused(place, 'CONNECT example.com:443'),
    expected: [405, []],
  },
]

async function refused({ connect, upstream }: Place, line: string): Promise<unknown> {
  const before = upstream.lines.length
  const client = await connect()
  client.send(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`)
  const { line: statusLine } = await readResponse(client)
  return [Number(statusLine.slice(9, 12)), upstream.lines.slice(before)]
}
