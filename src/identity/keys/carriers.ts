/**
 * Where a secret key may come in a request: in header fields of these names, as the token of `Authorization: Bearer`, as
 * the password of `Authorization: Basic`. One object for each config: it is a key of caches.
 */
export interface Carriers {
  /** Names of header fields, as configured; no two are the same in lower case. */
  readonly headers: readonly string[]
  readonly bearer: boolean
  readonly basic: boolean
}

/** The place that a secret key came in: the name of a header field as configured, `bearer` or `basic`. */
export type Carrier = string

/** The carrier of an access token that came in the access cookie. */
export const accessCookieCarrier: Carrier = 'cookie'

/** The words of `keys.accept` that are no header names. */
export const authorizationCarriers = ['bearer', 'basic'] as const

/** @param accept `keys.accept` of the config: header names, `bearer`, `basic` */
export function createCarriers(accept: readonly string[]): Carriers {
  const [bearer, basic] = authorizationCarriers
  return {
    headers: accept.filter((name) => name !== bearer && name !== basic),
    bearer: accept.includes(bearer),
    basic: accept.includes(basic),
  }
}

/** How to send a secret key, for each carrier: `in the header SecretKey`. */
export function describeCarriers({ headers, bearer, basic }: Carriers): readonly string[] {
  return [
    ...headers.map((name) => `in the header ${name}`),
    ...(bearer ? ['as Authorization: Bearer'] : []),
    ...(basic ? ['as the password of Authorization: Basic'] : []),
  ]
}

/** The header field that carries a secret key, in the first place that is accepted. */
export function keyField(
  { headers: [header], bearer }: Carriers,
  secretKey: string,
): [name: string, value: string] {
  if (header !== undefined) return [header, secretKey]
  if (bearer) return ['Authorization', `Bearer ${secretKey}`]
  return ['Authorization', `Basic ${Buffer.from(`key:${secretKey}`).toString('base64')}`]
}
