import { credentialsOf } from '#gateway/arrival/arrival.ts'
import {
  type Access,
  accessCookieCarrier,
  type Carrier,
  createCarriers,
  proofCarrier,
  type SchemeName,
} from '#identity/access.ts'
import type { Credentials } from '#identity/credentials.ts'
import type { StepResult } from './explanation.ts'
import type { ExplainedArrival } from './read-arrival.ts'

/** @param accept where secret keys may come (`keys.accept`) */
export function describeScheme(
  arrival: ExplainedArrival,
  access: Access,
  accept: readonly string[],
): StepResult {
  const credentials = credentialsOf(arrival)
  const { hasAuthorization } = arrival.fields
  const { browser, reason } = arrival.outcome
  const { leavesAuthorization } = access
  const left = leavesAuthorization
    ? { detail: "; Authorization is the backend's", facts: { leavesAuthorization } }
    : unread
  if (access.kind === 'public') {
    return {
      detail: `ignored: the route is public${left.detail}`,
      facts: { accepted: [], sent: null, ...left.facts },
    }
  }
  const { isOptional } = access
  const places = leavesAuthorization ? createCarriers(accept).headers : accept
  const schemes = access.schemes.filter(
    (scheme) => !leavesAuthorization || (scheme === 'secretKey' && places.length > 0),
  )
  const { sent, carrier } = sentBy(credentials)
  const takes = schemes.map((scheme) =>
    scheme === 'secretKey' ? `secretKey in ${places.join(', ')}` : scheme,
  )
  const cookie = browser ? ['the access cookie'] : []
  const accepted = `accepted here: ${[...takes, ...cookie].join('; ')}${isOptional ? '; or none' : ''}`
  const place = carrier === null ? '' : ` ${placeOf(carrier)}`
  const isOthers =
    hasAuthorization &&
    !leavesAuthorization &&
    sent !== 'bearer' &&
    carrier !== 'bearer' &&
    carrier !== 'basic'
  const beside = isOthers ? "; Authorization is of another scheme, and so the backend's" : left.detail
  const about = sent === null && reason !== undefined ? `; ${reason}` : ''
  return {
    detail: `${sent ?? 'none'}${place} (${accepted})${beside}${about}`,
    facts: {
      accepted: schemes,
      keysAccepted: places,
      ...left.facts,
      ...(browser && { takesCookie: true }),
      isOptional,
      sent,
      carrier,
    },
  }
}

function placeOf(carrier: Carrier): string {
  if (carrier === proofCarrier) return 'as Authorization: DPoP'
  return `in ${carrier === accessCookieCarrier ? 'the access cookie' : carrier}`
}

const unread: StepResult = { detail: '', facts: {} }

/** The scheme, and for a secret key its place. */
function sentBy(credentials: Credentials): {
  readonly sent: SchemeName | null
  readonly carrier: Carrier | null
} {
  const { kind } = credentials
  if (kind !== 'secretKey' && kind !== 'bearer') return { sent: null, carrier: null }
  return { sent: kind, carrier: credentials.carrier ?? null }
}
