import { schemePrefix } from '#platform/http.ts'

/**
 * Where a secret key may be in a request: in header fields of these names, as the token of `Authorization: Bearer`, as
 * the password of `Authorization: Basic`, or as the certificate of the client. Caches use the object as their key.
 */
export interface Carriers {
  /** Names of header fields, as configured; unique in lower case. */
  readonly headers: readonly string[]
  readonly bearer: boolean
  readonly basic: boolean
  /** Whether the certificate of a client may be its key. */
  readonly certificate: boolean
}

/** Where a credential was found: the name of a header field as configured, or one of the words below. */
export type Carrier = string

/** The carrier of an access token that came in the access cookie. */
export const accessCookieCarrier: Carrier = 'cookie'

/** The carrier of an access token that came by `Authorization: DPoP`, beside a proof (RFC 9449 7.1). */
export const proofCarrier: Carrier = 'dpop'

/** The carrier of a secret key that is the token of `Authorization: Bearer`, and the word for it in `keys.accept`. */
export const bearerCarrier = 'bearer'

/** The carrier of a secret key that is the password of `Authorization: Basic`, and the word for it. */
export const basicCarrier = 'basic'

/** The carrier of a certificate that stands for a key, and the word for it in `keys.accept`. */
export const certificateCarrier = 'certificate'

/** The words in `keys.accept` for the field Authorization. */
export const authorizationCarriers = [bearerCarrier, basicCarrier] as const

/** All words in `keys.accept` that are not header names. */
export const carrierWords = [...authorizationCarriers, certificateCarrier] as const

/** @param accept `keys.accept` of the config: header names, `bearer`, `basic`, `certificate` */
export function createCarriers(accept: readonly string[]): Carriers {
  return {
    headers: accept.filter((name) => !carrierWords.some((word) => word === name)),
    bearer: accept.includes(bearerCarrier),
    basic: accept.includes(basicCarrier),
    certificate: accept.includes(certificateCarrier),
  }
}

/** How to send a secret key, for each carrier: `in the header SecretKey`. */
export function describeCarriers(
  { headers, bearer, basic, certificate }: Carriers,
  words = englishCarriers,
): readonly string[] {
  return [
    ...headers.map(words.header),
    ...(bearer ? [words.bearer] : []),
    ...(basic ? [words.basic] : []),
    ...(certificate ? [words.certificate] : []),
  ]
}

export const englishCarriers = {
  header: (name: string) => `in the header ${name}`,
  bearer: 'as Authorization: Bearer',
  basic: 'as the password of Authorization: Basic',
  certificate: 'as the certificate of the client',
}

/** The header field to send a secret key in, as the first accepted carrier. */
export function keyField(
  { headers: [header], bearer }: Carriers,
  secretKey: string,
): [name: string, value: string] {
  if (header !== undefined) return [header, secretKey]
  if (bearer) return ['Authorization', `Bearer ${secretKey}`]
  return ['Authorization', `Basic ${Buffer.from(`key:${secretKey}`).toString('base64')}`]
}

const basicPrefix = schemePrefix('Basic')
const basicCredentials = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i
/** The longest base64 text that is decoded: user names are ignored, but may not have any length. */
const lengthMax = 4_096

/**
 * The password of `Authorization: Basic` (RFC 7617): what follows the first colon, one character for each byte. Empty
 * if it is malformed; undefined = another scheme.
 */
export function passwordOf(authorization: string): string | undefined {
  if (!basicPrefix.test(authorization)) return undefined
  const encoded = basicCredentials.exec(authorization)?.[1]
  if (encoded === undefined || encoded.length > lengthMax) return ''
  const bytes = Buffer.from(encoded, 'base64')
  // Decoders disagree about text that is not canonical: missing padding, left-over bits.
  if (bytes.toString('base64') !== encoded) return ''
  const colon = bytes.indexOf(':')
  return colon === -1 ? '' : bytes.toString('latin1', colon + 1)
}
