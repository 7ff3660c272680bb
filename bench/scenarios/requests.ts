import { requestNumberPlaceholder } from '../load/commands.ts'

/** A request as wire text. */
export function writeRequest(
  requestLine: string,
  fields: Readonly<Record<string, string>> = {},
  body = '',
): string {
  const lines = Object.entries({ Host: 'bench.example', 'User-Agent': 'bench', ...fields }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  return `${requestLine} HTTP/1.1\r\n${lines.join('')}\r\n${body}`
}

/** One request with each token, so that none has the cache to itself. */
export function withTokens(requestLine: string, tokens: readonly string[], body = ''): readonly string[] {
  const length = body === '' ? {} : { 'Content-Length': String(body.length) }
  return tokens.map((token) =>
    writeRequest(requestLine, { Authorization: `Bearer ${token}`, ...length }, body),
  )
}

/** One request with each secret key. */
export function withKeys(requestLine: string, keys: readonly string[]): readonly string[] {
  return keys.map((key) => writeRequest(requestLine, { SecretKey: key }))
}

/** A key or token with some characters near its end changed: well-formed, and invalid. */
export function tamper(credential: string): string {
  const place = credential.length - 8
  const other = credential[place] === 'a' ? 'b' : 'a'
  return credential.slice(0, place) + other + credential.slice(place + 1)
}

/** With a header field that is different in each of them. */
export function numbered(requests: readonly string[]) {
  const field = `X-Number: ${requestNumberPlaceholder}\r\n\r\n`
  return {
    requests: requests.map((request) => request.replace('\r\n\r\n', `\r\n${field}`)),
    isNumbered: true,
  }
}

/** What a browser sends with each request for data, with the IDs of tracing, which never repeat. */
const browserFields = {
  'User-Agent':
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  Accept: 'application/json, text/plain, */*',
  'Accept-Language': 'en-GB,en;q=0.9,de;q=0.8',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  Referer: 'https://bench.example/orders?page=3',
  Origin: 'https://bench.example',
  Connection: 'keep-alive',
  'Sec-Fetch-Dest': 'empty',
  'Sec-Fetch-Mode': 'cors',
  'Sec-Fetch-Site': 'same-origin',
  'sec-ch-ua': '"Chromium";v="142", "Not_A Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
  'Cache-Control': 'no-cache',
  traceparent: `00-4bf92f3577b34da6a3ce${requestNumberPlaceholder}-00f0${requestNumberPlaceholder}-01`,
  'X-Request-Id': `6f1c24f0-8d2e-4b55-9a10-${requestNumberPlaceholder}`,
}

/** The same as HTTP/2 sends it: the name in lower case, without what is about the connection. */
export function freshH2Fields(
  credential: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const fields = Object.entries({ ...browserFields, ...credential }).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ])
  return Object.fromEntries(fields.filter(([name]) => name !== 'connection'))
}

/** What authenticates requests with each of these tokens. */
export function bearers(tokens: readonly string[]): readonly Readonly<Record<string, string>>[] {
  return tokens.map((token) => ({ Authorization: `Bearer ${token}` }))
}

/** What authenticates requests with each of these secret keys. */
export function keysOf(keys: readonly string[]): readonly Readonly<Record<string, string>>[] {
  return keys.map((key) => ({ SecretKey: key }))
}

/** A browser's requests, one for each of these field lines: no head is like one before. */
export function fresh(
  requestLine: string,
  credentials: readonly Readonly<Record<string, string>>[],
  body = '',
) {
  const length = body === '' ? {} : { 'Content-Length': String(body.length) }
  return {
    requests: credentials.map((credential) =>
      writeRequest(requestLine, { ...browserFields, ...credential, ...length }, body),
    ),
    isNumbered: true,
  }
}
