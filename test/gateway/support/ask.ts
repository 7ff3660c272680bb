import type { Test } from 'tap'
import { type RawResponse, rawRequest } from '../../setup/raw-client.ts'

/**
 * One request on a connection of its own, header by header as it is given.
 * @param line method and target: `GET /any/x`
 * @param body gets its Content-Length; none is sent without a body
 */
export function ask(
  t: Test,
  url: string,
  line: string,
  headers: readonly string[] = [],
  body?: string | Buffer,
): Promise<RawResponse> {
  const bytes = Buffer.from(body ?? '').toString('latin1')
  const length = body === undefined ? [] : [`Content-Length: ${bytes.length}`]
  return rawRequest(t, url, [`${line} HTTP/1.1`, 'Host: gateway.test', ...headers, ...length], bytes)
}

/** A POST of JSON. */
export function askJson(
  t: Test,
  url: string,
  path: string,
  body: unknown,
  headers: readonly string[] = [],
): Promise<RawResponse> {
  const text = JSON.stringify(body)
  return ask(t, url, `POST ${path}`, ['Content-Type: application/json', ...headers], text)
}

export const accessTokenPath = '/api/v1/accounts/access-token'
export const refreshTokenPath = '/api/v1/accounts/refresh-token'
export const revokeTokenPath = '/api/v1/accounts/revoke-token'
export const jwksPath = '/.well-known/jwks.json'

/** The value of the refresh cookie that an answer sets; '' = it is cleared, undefined = it is left alone. */
export function cookieOf({ headers }: RawResponse, name = 'refreshToken'): string | undefined {
  return headers['set-cookie']?.match(new RegExp(`^${name}=([^;]*);`))?.[1]
}

/** What a backend got, without the ID, which is another for each request. @param rawHeaders name, value, name, value */
export function withoutRequestId(rawHeaders: readonly string[]): readonly string[] {
  return rawHeaders.map((text, index) => (rawHeaders[index - 1] === 'X-Request-Id' ? '' : text))
}
