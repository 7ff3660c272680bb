import type { Case } from '../case-context.ts'
import { exchangeCase } from '../exchange.ts'

/** Field lines that must reach the upstream as they are: all, or the given ones. */
function asked(name: string, lines: readonly string[], expected: readonly string[] = lines): Case {
  return exchangeCase(
    name,
    { request: `GET / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n` },
    (exchanged) => exchanged.asked.fields,
    expected,
  )
}

/** The same for the client. */
function answered(name: string, lines: readonly string[], expected: readonly string[] = lines): Case {
  const fields = [...lines, 'Content-Length: 0'].join('\r\n')
  return exchangeCase(
    name,
    { request: 'GET / HTTP/1.1\r\n\r\n', answer: `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n` },
    ({ answers: [answer] }) => answer?.fields.filter((field) => !/^content-length:/i.test(field)),
    expected,
  )
}

const ordered = ['b-Second: 2', 'A-FIRST: 1', 'c_third: 3', 'X.Dotted: 4', "X!#$%&'*+-^_`|~9: 5"]
const repeated = ['X-A: 1', 'X-B: between', 'x-a: 2', 'X-A: 1', 'Accept: a/b', 'Accept: c/d']
const cookies = ['Set-Cookie: a=1; Path=/', 'X-Between: 1', 'Set-Cookie: b=2', 'set-cookie: a=1; Path=/']
const values = ['X-Empty:', 'X-Latin: J\xfcrgen \xff', 'X-Quoted: "a, b"; c=d', 'X-Tab: a\tb']
const long = [`X-Long: ${'v'.repeat(8_000)}`]
const many = Array.from({ length: 300 }, (_, index) => `X-Many-${index}: ${index}`)
const hops = ['Keep-Alive: timeout=1', 'Proxy-Connection: x', 'Connection: X-Hop, keep-alive', 'X-Hop: 1']

export const fieldCases: readonly Case[] = [
  asked('request fields keep case and order', ordered),
  asked('repeated request fields stay apart, in their places', repeated),
  asked('request values pass byte for byte', values.map(withSpace), values.map(withSpace)),
  asked('blanks around a request value are no part of it', ['X-A: \t 1 \t '], ['X-A: 1']),
  asked('a long request field passes', long),
  asked('three hundred request fields pass', many),
  asked('cookies pass apart, in order', ['Cookie: a=1; b=2', 'Cookie: c=3']),
  asked('conditions and ranges are the upstream’s', [
    'Range: bytes=0-1,5-',
    'If-Range: "x"',
    'If-None-Match: W/"y"',
    'If-Modified-Since: nonsense',
  ]),
  asked('what concerns the connection of the client ends with it', [...hops, 'X-Kept: 1'], ['X-Kept: 1']),
  answered('response fields keep case and order', ordered),
  answered('repeated response fields stay apart, in their places', repeated),
  answered('every Set-Cookie stands alone, in its place', cookies),
  answered('response values pass byte for byte', values.map(withSpace), values.map(withSpace)),
  answered('a long response field passes', long),
  answered('three hundred response fields pass', many),
  answered(
    'hop-by-hop fields of the upstream do not reach the client',
    [...hops, 'X-Kept: 1'],
    ['X-Kept: 1'],
  ),
  answered('caching, ranges and variants are the upstream’s', [
    'Accept-Ranges: bytes',
    'Vary: *',
    'Cache-Control: no-store',
    'Age: 3',
    'ETag: "x"',
    'Warning: 110 - "x"',
  ]),
]

/** An empty value is written with the blank behind the colon. */
function withSpace(field: string): string {
  return field.endsWith(':') ? `${field} ` : field
}
