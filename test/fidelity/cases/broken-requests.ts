import type { Case, Place } from '../case-context.ts'
import { readResponse, readToEnd } from '../wire.ts'

const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'
const chunks = `0\r\n\r\n${hidden}`

/** What follows the request line `POST / HTTP/1.1`, as servers may read it in two ways. */
const broken: Readonly<Record<string, string>> = {
  'a length beside chunks': `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
  'chunks beside a length': `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunks}`,
  'two lengths': `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  'lengths in a list': `Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
  'a length with a sign': `Content-Length: +${hidden.length}\r\n\r\n${hidden}`,
  'a length that is too long for any integer': `Content-Length: 99999999999999999999\r\n\r\n${hidden}`,
  'a blank before the colon': `Content-Length : ${hidden.length}\r\n\r\n${hidden}`,
  'a folded line': `X-A: 1\r\n Transfer-Encoding: chunked\r\n\r\n${chunks}`,
  'a line that begins with a blank': ` X-A: 1\r\n\r\n${hidden}`,
  'a bare LF between fields': `X-A: 1\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
  'a bare LF at the end of the head': `X-A: 1\r\n\n${hidden}`,
  'a bare CR in a value': `X-A: 1\rContent-Length: 4\r\n\r\n${hidden}`,
  'a zero byte in a value': `X-A: 1\x00\r\n\r\n${hidden}`,
  'a name of no token': `X A: 1\r\n\r\n${hidden}`,
  'a line without a colon': `nonsense\r\n\r\n${hidden}`,
  'a coding behind chunked': `Transfer-Encoding: chunked, gzip\r\n\r\n${chunks}`,
  'chunked twice': `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`,
  'chunked with a vertical tab': `Transfer-Encoding: \x0bchunked\r\n\r\n${chunks}`,
}

const badChunks: Readonly<Record<string, string>> = {
  'a size that is no number': 'zz\r\nabc\r\n0\r\n\r\n',
  'a size with 0x': '0x3\r\nabc\r\n0\r\n\r\n',
  'a size with a sign': '+3\r\nabc\r\n0\r\n\r\n',
  'a size before a bare LF': '3\nabc\r\n0\r\n\r\n',
  'a size that overflows': 'fffffffffffffffff\r\nabc\r\n0\r\n\r\n',
  'data longer than their size': '3\r\nabcd\r\n0\r\n\r\n',
  'data before a bare LF': '3\r\nabc\n0\r\n\r\n',
  // Servers disagree on where these end.
  'a malformed extension': '3;=b\r\nabc\r\n0\r\n\r\n',
  'an extension with a bare LF': '3;a\nb\r\nabc\r\n0\r\n\r\n',
  'an endless extension': `3;${'a'.repeat(100_000)}\r\nabc\r\n0\r\n\r\n`,
  'a folded trailer': '0\r\nX-A: 1\r\n 2\r\n\r\n',
}

/** Refused, over, and nothing of it has been a request to anybody. */
async function isRefused(place: Place, text: string, hasBegun: boolean): Promise<unknown> {
  const before = place.upstream.lines.length
  let isWhole = false
  place.upstream.play(async ({ line, body, wire }) => {
    await body()
    isWhole = line.startsWith('POST')
    wire.send('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole')
  })
  const client = await place.connect()
  client.send(text)
  const { line } = await readResponse(client)
  const rest = await readToEnd(client)
  const asked = place.upstream.lines.slice(before)
  return {
    isRefused: /^HTTP\/1\.1 4\d\d /.test(line) || line,
    rest,
    isWhole,
    asked: hasBegun ? asked.filter((one) => !one.startsWith('POST')) : asked,
  }
}

const expected = { isRefused: true, rest: '', isWhole: false, asked: [] }

export const brokenRequestCases: readonly Case[] = [
  ...Object.entries(broken).map(([name, rest]) => ({
    name: `a request with ${name} is refused, and ends the connection`,
    run: (place: Place) => isRefused(place, `POST / HTTP/1.1\r\nHost: x\r\n${rest}`, false),
    expected,
  })),
  ...Object.entries(badChunks).map(([name, body]) => ({
    name: `a chunked body with ${name} never looks whole to the upstream`,
    run: (place: Place) =>
      isRefused(
        place,
        `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}${hidden}`,
        true,
      ),
    expected,
  })),
]
