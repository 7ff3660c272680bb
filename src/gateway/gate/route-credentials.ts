import { fieldsIn, type RequestHead } from '#http/request-head.ts'
import type { Carriers } from '#identity/carriers.ts'
import {
  type Credentials,
  certificateCredential,
  isWithoutCredential,
  noCredentials,
  withSecretKey,
} from '#identity/credentials.ts'
import { payloadOf } from '#identity/tokens/jwt.ts'
import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import {
  accountIdPattern,
  keyMarks,
  oldKeyPrefixes,
  secretPrefixes,
  sessionIdPattern,
} from '#platform/secrets/key-format.ts'
import type { GatedArrival } from '../arrival/arrival.ts'
import type { ReadClientCertificate } from '../arrival/client-certificate-reader.ts'
import { recordCredentials } from '../arrival/outcome.ts'
import type { ReadAccessCookie } from '../browser/ambient-credentials.ts'
import type { GatedRoute } from '../routes/route.ts'

/** The credentials of a request on a route whose Authorization field belongs to the backend. */
interface KeyHeaders {
  /** The key in a header field that `keys.accept` names: whatever Authorization has, it is no credential here. */
  readonly credentials: Credentials
  /** Whether Authorization shows a credential of the gateway, which no backend is to see. */
  readonly isMisplaced: boolean
}

export type ReadKeyHeaders = (head: Pick<RequestHead, 'rawHeaders'>) => KeyHeaders

/** @param issuer of the gateway's own tokens */
export function createKeyHeaderReader({ headers }: Carriers, issuer: string): ReadKeyHeaders {
  const carrierOf = new Map(headers.map((name) => [name.toLowerCase(), name]))

  return ({ rawHeaders }) => {
    let credentials = noCredentials
    let isMisplaced = false
    for (const [sentName, value] of fieldsIn(rawHeaders)) {
      const name = sentName.toLowerCase()
      const carrier = carrierOf.get(name)
      if (carrier !== undefined) credentials = withSecretKey(credentials, value, carrier)
      else if (name === 'authorization') isMisplaced ||= showsOwnCredential(value, issuer)
    }
    return { credentials, isMisplaced }
  }
}

export interface CredentialTakerOptions {
  readonly readKeyHeaders: ReadKeyHeaders
  /** absent = no route takes the access cookie. */
  readonly readAccessCookie?: ReadAccessCookie | undefined
  readonly readClientCertificate: ReadClientCertificate
}

/** Records which credentials decide about a request. @returns why it is refused; undefined = it is not */
type TakeCredentials = (route: GatedRoute, arrival: GatedArrival) => GatehouseError | undefined

/**
 * For routes whose Authorization field belongs to the backend, and for those that take the access cookie if there is no
 * other credential.
 */
export function createCredentialTaker({
  readKeyHeaders,
  readAccessCookie,
  readClientCertificate,
}: CredentialTakerOptions): TakeCredentials {
  /** The certificate, if it stands for a key here. */
  function certificateOf({ access }: GatedRoute, arrival: GatedArrival): Credentials {
    if (!arrival.carriers.certificate || access.kind === 'public' || !access.schemes.includes('secretKey'))
      return noCredentials
    const certificate = readClientCertificate(arrival)
    return certificate ? certificateCredential(certificate.thumbprint) : noCredentials
  }

  return function takeCredentials(route, arrival) {
    const { access, browser } = route
    const keyHeaders = access.leavesAuthorization ? readKeyHeaders(arrival.head) : undefined
    if (keyHeaders?.isMisplaced) return sharedError('credentials-misplaced')
    const { credentials } = keyHeaders ?? arrival.fields
    const cookie =
      browser !== undefined && readAccessCookie !== undefined && isWithoutCredential(credentials)
        ? readAccessCookie(arrival, browser)
        : noCredentials
    const taken = cookie.kind === 'none' ? credentials : cookie
    const certificate = isWithoutCredential(taken) ? certificateOf(route, arrival) : noCredentials
    recordCredentials(arrival.outcome, certificate.kind === 'none' ? taken : certificate)
    return undefined
  }
}

const { refreshToken, ...withAccountId } = secretPrefixes
/**
 * The start of any credential of the gateway but a JWT, handle included; what follows is not checked, as even a part of
 * a key is secret. The prefix alone is not enough, as another well-known service begins its keys with `gsk_`, too.
 */
const ownStart = new RegExp(
  [
    `(?:^|[^0-9A-Za-z])(?:${oneOf(oldKeyPrefixes)}|${oneOf(withAccountId)})_${accountIdPattern}_`,
    `[0-9a-z]_(?:${oneOf(keyMarks)})_${accountIdPattern}_`,
    `(?:^|[^0-9A-Za-z])${refreshToken}_${sessionIdPattern}_`,
  ].join('|'),
)
const basicScheme = /^Basic[ \t]+/i
const notInJwt = /[^0-9A-Za-z_.-]+/

function oneOf(names: Readonly<Record<string, string>>): string {
  return Object.values(names).join('|')
}

/**
 * Whether the value of an Authorization field reveals a credential of the gateway, in any scheme, valid or not: a key,
 * a refresh token, the token of a link or a portal session, or a JWT of this issuer. Basic is decoded as leniently as
 * servers do.
 */
export function showsOwnCredential(authorization: string, issuer: string): boolean {
  return shows(authorization, issuer) || shows(decodeBasic(authorization), issuer)
}

function shows(text: string, issuer: string): boolean {
  return ownStart.test(text) || text.split(notInJwt).some((part) => isIssuedBy(part, issuer))
}

function isIssuedBy(text: string, issuer: string): boolean {
  return text.startsWith('eyJ') && payloadOf(text)?.iss === issuer
}

function decodeBasic(authorization: string): string {
  const [scheme] = basicScheme.exec(authorization) ?? []
  return scheme === undefined
    ? ''
    : Buffer.from(authorization.slice(scheme.length), 'base64').toString('latin1')
}
