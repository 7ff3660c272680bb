import { fieldsIn, type RequestHead } from '#http/request-head.ts'
import {
  type Credentials,
  certificateCredential,
  isWithoutCredential,
  noCredentials,
  showsOwnCredential,
  withSecretKey,
} from '#identity/credentials.ts'
import type { Carriers } from '#identity/keys/carriers.ts'
import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { GatedArrival } from '../arrival/arrival.ts'
import { recordCredentials } from '../arrival/outcome.ts'
import type { ReadAccessCookie } from '../browser/ambient-credentials.ts'
import type { GatedRoute } from '../routes/route.ts'
import type { ReadClientCertificate } from './possession.ts'

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
