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
