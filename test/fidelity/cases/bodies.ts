import type { Case } from '../case-context.ts'
import { exchangeCase } from '../exchange.ts'

const everyByte = Buffer.from(Array.from({ length: 65_536 }, (_, index) => index % 256)).toString('latin1')

/** In chunks of growing size. */
function inChunks(body: string, end = '0\r\n\r\n'): string {
  let text = ''
  for (let begin = 0, size = 1; begin < body.length; begin += size, size = Math.min(size * 3, 20_000)) {
    const chunk = body.slice(begin, begin + size)
    text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
  }
  return text + end
}

function uploaded(name: string, request: string, expected: readonly unknown[]): Case {
  return exchangeCase(
    name,
    { request },
    ({ asked, answers }) => [asked.framing, asked.body, asked.trailers, answers.at(-1)?.body],
    expected,
  )
}

function downloaded(name: string, answer: string, expected: readonly unknown[]): Case {
  return exchangeCase(
    name,
    { request: 'GET / HTTP/1.1\r\nTE: trailers\r\n\r\n', answer },
    ({ answers: [one] }) => [one?.framing, one?.body, one?.trailers],
    expected,
  )
}

const chunked = 'Transfer-Encoding: chunked\r\n'
const trailers = ['X-Sum: 1', 'x-SUM: 2', 'X-Last: J\xfcrgen']
const trailerEnd = `0\r\n${trailers.join('\r\n')}\r\n\r\n`
const announced = `${chunked}Trailer: X-Sum, X-Last\r\n`

export const bodyCases: readonly Case[] = [
  uploaded('a counted body stays counted', 'POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc', [
    'counted',
    'abc',
    [],
    'ok',
  ]),
  uploaded('an empty body stays empty', 'POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n', [
    'counted',
    '',
    [],
    'ok',
  ]),
  uploaded('no body stays no body', 'POST / HTTP/1.1\r\n\r\n', ['none', '', [], 'ok']),
  uploaded('GET with a body passes with it', 'GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc', [
    'counted',
    'abc',
    [],
    'ok',
  ]),
  uploaded('GET with chunks passes with them', `GET / HTTP/1.1\r\n${chunked}\r\n${inChunks('abc')}`, [
    'chunked',
    'abc',
    [],
    'ok',
  ]),
  uploaded('chunks stay chunks', `PUT / HTTP/1.1\r\n${chunked}\r\n${inChunks(everyByte)}`, [
    'chunked',
    everyByte,
    [],
    'ok',
  ]),
  uploaded('every byte of a counted body', `PUT / HTTP/1.1\r\nContent-Length: 65536\r\n\r\n${everyByte}`, [
    'counted',
    everyByte,
    [],
    'ok',
  ]),
  uploaded('chunks with no data', `PUT / HTTP/1.1\r\n${chunked}\r\n0\r\n\r\n`, ['chunked', '', [], 'ok']),
  uploaded(
    'request trailers pass where the route says so',
    `PUT /trailers HTTP/1.1\r\n${announced}\r\n${inChunks('abc', trailerEnd)}`,
    ['chunked', 'abc', trailers, 'ok'],
  ),
  uploaded(
    'extensions of the chunks of a request do not pass',
    `PUT / HTTP/1.1\r\n${chunked}\r\n3;a=b;c="d"\r\nabc\r\n0;e\r\n\r\n`,
    ['chunked', 'abc', [], 'ok'],
  ),
  downloaded(
    'extensions of the chunks of an answer do not pass',
    `HTTP/1.1 200 OK\r\n${chunked}\r\n3;a=b\r\nabc\r\n0;e\r\n\r\n`,
    ['chunked', 'abc', []],
  ),
  downloaded('a chunked answer stays chunked', `HTTP/1.1 200 OK\r\n${chunked}\r\n${inChunks(everyByte)}`, [
    'chunked',
    everyByte,
    [],
  ]),
  downloaded('an answer of chunks with no data', `HTTP/1.1 200 OK\r\n${chunked}\r\n0\r\n\r\n`, [
    'chunked',
    '',
    [],
  ]),
  downloaded('response trailers pass', `HTTP/1.1 200 OK\r\n${announced}\r\n${inChunks('abc', trailerEnd)}`, [
    'chunked',
    'abc',
    trailers,
  ]),
]
