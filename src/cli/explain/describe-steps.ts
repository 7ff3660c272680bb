import { credentialsOf } from '#gateway/arrival/arrival.ts'
import { type Cors, everyOrigin, type Preflight } from '#gateway/arrival/cors.ts'
import { destinationOf } from '#gateway/arrival/outcome.ts'
import { parseHostName } from '#gateway/routes/hosts.ts'
import { valuesOf } from '#http/request-head.ts'
import type { Access } from '#identity/access.ts'
import {
  accessCookieCarrier,
  basicCarrier,
  bearerCarrier,
  createCarriers,
  proofCarrier,
} from '#identity/carriers.ts'
import type { Credentials } from '#identity/credentials.ts'
import type { Principal } from '#identity/decision.ts'
import { redactTarget } from '../redact.ts'
import { type StepResult, unmentioned } from './explanation.ts'
import type { ExplainedArrival } from './read-arrival.ts'

/** @param peer the other end of the connection */
export function describeRequest({ outcome, client, fields }: ExplainedArrival, peer: string): StepResult {
  if (!outcome.destination) {
    const host = parseHostName(fields)
    return { detail: `about the gateway as a whole, host ${host}`, facts: { host } }
  }
  const { target, hostName } = outcome.destination
  const path = redactTarget(target.path)
  const via = client.isTrusted ? `, according to the trusted proxy ${peer}` : ''
  return {
    detail: `path ${path}, host ${hostName}, from ${client.address}${via}`,
    facts: { path, host: hostName, client: client.address, isTrustedProxy: client.isTrusted },
  }
}

/** Which page may read the response; undefined if no page asks, or CORS is left to the upstreams. */
export function describeCors(
  { head, outcome }: ExplainedArrival,
  cors: Cors | undefined,
): StepResult | undefined {
  if (!cors || valuesOf(head.rawHeaders, 'origin').length === 0) return undefined
  const origin = outcome.corsHeaders?.origin
  const isReadable =
    origin !== undefined &&
    cors.appliesTo(destinationOf(outcome).target.path, destinationOf(outcome).hostName)
  const detail = isReadable
    ? origin === everyOrigin
      ? 'pages of every origin may read the response, without cookies'
      : `pages from ${origin} may read the response`
    : origin === undefined
      ? 'its origin is not in cors.origins: browsers block the response (CORS)'
      : 'the portal allows no other origin: browsers block the response (CORS)'
  return { detail, facts: { origin: isReadable ? origin : null, isPreflight: false } }
}

export function describePreflight({ outcome }: ExplainedArrival, { methods }: Preflight): StepResult {
  const origin = outcome.corsHeaders?.origin
  const sender = origin === everyOrigin ? 'any origin' : origin
  const detail = `a preflight from ${sender}, answered before authentication; methods: ${methods.join(', ')}`
  return { detail, facts: { origin, methods, isPreflight: true } }
}

/** An OPTIONS request that goes no further. */
export function describeMethods(methods: readonly string[]): StepResult {
  return { detail: `answered by the gateway; methods: ${methods.join(', ')}`, facts: { methods } }
}

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
    : unmentioned
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
    carrier !== bearerCarrier &&
    carrier !== basicCarrier
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

function placeOf(carrier: string): string {
  if (carrier === proofCarrier) return 'as Authorization: DPoP'
  return `in ${carrier === accessCookieCarrier ? 'the access cookie' : carrier}`
}

/** The scheme, and for a secret key its place. */
function sentBy(credentials: Credentials) {
  const { kind } = credentials
  if (kind !== 'secretKey' && kind !== 'bearer') return { sent: null, carrier: null }
  return { sent: kind, carrier: credentials.carrier ?? null }
}

/** What a credential is limited to, besides what its principal says. */
export interface CredentialBounds {
  /** When it expires, or the overlap of its key ends; absent = never. */
  readonly validUntil?: number
  /** The thumbprint of the key whose proof came with it; absent = none is needed. */
  readonly jkt?: string | undefined
  /** The thumbprint of the certificate that its client has; absent = none is needed. */
  readonly certificate?: string | undefined
}

export function describePrincipal(
  principal: Principal | undefined,
  { validUntil, jkt, certificate }: CredentialBounds,
): StepResult {
  if (!principal)
    return { detail: 'anonymous: forwarded without identity headers', facts: { principal: null } }
  const { accountId, role, scheme, sessionId, key, scopes, addresses, plan, profile, issuer } = principal
  const session = sessionId === undefined ? '' : `, session ${sessionId}`
  const keyName = key === undefined ? '' : `, key ${key}`
  const limits = scopes.length === 0 ? '' : `, only scopes ${scopes.join(' ')}`
  const from = addresses.length === 0 ? '' : `, only from ${addresses.join(', ')}`
  const until = validUntil === undefined ? undefined : new Date(validUntil).toISOString()
  const expiry = until === undefined ? '' : `, valid until ${until}`
  const bound =
    (jkt === undefined ? '' : `, bound to the key ${jkt}, which is proven`) +
    (certificate === undefined ? '' : `, bound to the certificate ${certificate}, which the client has`)
  const verified = profile?.isVerified === false ? 'not verified' : 'verified'
  const email = profile ? ` (${profile.email ?? 'no e-mail'}, ${verified})` : ''
  const who = issuer === undefined ? 'account' : `by a token of the issuer ${issuer}:`
  return {
    detail: `${who} ${accountId}${email}, role ${role}${session}${keyName}${limits}${from}${expiry}${bound}`,
    facts: {
      principal: {
        accountId,
        role,
        scheme,
        sessionId,
        key,
        scopes,
        addresses,
        validUntil: until ?? null,
        ...(jkt !== undefined && { jkt }),
        ...(certificate !== undefined && { certificate }),
        plan,
        email: profile?.email,
        isVerified: profile?.isVerified,
        issuer: issuer ?? null,
      },
    },
  }
}

export function describePolicy(access: Access): StepResult {
  if (access.kind === 'public')
    return { detail: 'anyone may access', facts: { roles: null, scopes: null, verifiedOnly: false } }
  const roles = access.roles && [...access.roles]
  const { scopes = null } = access
  const who = roles ? `allowed roles: ${roles.join(', ')}` : 'any role'
  return {
    detail: `${who}; ${describeScopes(scopes)}${access.verifiedOnly ? '; verified accounts only' : ''}`,
    facts: { roles: roles ?? null, scopes, verifiedOnly: access.verifiedOnly },
  }
}

function describeScopes(scopes: readonly string[] | null): string {
  return scopes
    ? `scopes, where a key or token has any: ${scopes.join(' ')}`
    : 'only keys and tokens without scopes'
}
