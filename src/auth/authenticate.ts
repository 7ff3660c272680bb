import type { Code } from '../errors.ts'
import type { Access, SchemeName } from '../routes/route.ts'
import type { Principal } from './principal.ts'
import type { Authentication, Scheme } from './scheme.ts'

/** The credentials of a request, as far as they could be read. */
export interface Credentials {
  /** Value of SecretKey; undefined where there is none. */
  readonly secretKey: string | undefined
  /** Value of Authorization; undefined where there is none. */
  readonly authorization: string | undefined
  /** Whether one of the two came more than once. */
  readonly isRepeated: boolean
}

/** Who may pass: somebody, nobody in particular, or no one for a reason. */
export type Decision =
  | {
      readonly kind: 'allowed'
      readonly principal: Principal | undefined
      readonly scheme: SchemeName | undefined
    }
  | Refusal

export interface Refusal {
  readonly kind: 'refused'
  readonly code: Code
  readonly scheme: SchemeName | undefined
  /** No more than a typing error: nobody can have such a credential. */
  readonly isMalformed: boolean
}

type Schemes = Readonly<Record<SchemeName, Scheme>>

const anonymous: Decision = { kind: 'allowed', principal: undefined, scheme: undefined }

/** Also for whoever needs the token of a request that has passed. */
export const bearerToken = /^Bearer +([^ ]+) *$/i
const usualPrefix = 'Bearer '
const bearerPrefix = /^Bearer(?: |$)/i

/**
 * Finds out who is calling. A route lists the schemes it takes; on an optional one only the absence of a
 * credential is anonymous, never a wrong one.
 */
export function authenticate(
  access: Access,
  credentials: Credentials,
  schemes: Schemes,
): Decision | Promise<Decision> {
  if (access.kind === 'public') return anonymous
  const { secretKey, authorization, isRepeated } = credentials
  if (isRepeated || (secretKey !== undefined && authorization !== undefined)) {
    return refused('credentials-ambiguous', undefined)
  }
  if (secretKey !== undefined) return attempt(access.schemes, schemes.secretKey, secretKey)
  if (authorization !== undefined) {
    const token = tokenOf(authorization)
    if (token !== undefined) return attempt(access.schemes, schemes.bearer, token)
  }
  // Another scheme, such as Basic, is no credential of ours: an optional route leaves it to the upstream.
  if (access.isOptional) return anonymous
  const code = authorization === undefined ? 'credentials-missing' : 'scheme-not-accepted'
  return refused(code, undefined)
}

/** Of a bearer, be it empty where it is not well-formed; undefined = of another scheme. */
function tokenOf(authorization: string): string | undefined {
  // As nearly all write it: patterns cost as much as the rest of a decision.
  if (authorization.startsWith(usualPrefix)) {
    const token = authorization.slice(usualPrefix.length)
    if (token !== '' && !token.includes(' ')) return token
  }
  return bearerPrefix.test(authorization) ? (bearerToken.exec(authorization)?.[1] ?? '') : undefined
}

function attempt(
  accepted: readonly SchemeName[],
  scheme: Scheme,
  credential: string,
): Decision | Promise<Decision> {
  if (!accepted.includes(scheme.name)) {
    return refused('scheme-not-accepted', scheme.name)
  }
  const authentication = scheme.authenticate(credential)
  return authentication instanceof Promise
    ? authentication.then((settled) => decide(scheme.name, settled))
    : decide(scheme.name, authentication)
}

function decide(scheme: SchemeName, authentication: Authentication): Decision {
  return authentication.kind === 'authenticated'
    ? { kind: 'allowed', principal: authentication.principal, scheme }
    : refused(authentication.code, scheme, authentication.isMalformed)
}

function refused(code: Code, scheme: SchemeName | undefined, isMalformed = false): Refusal {
  return { kind: 'refused', code, scheme, isMalformed }
}
