import type { Credentials } from '../auth/credentials.ts'
import type { Principal } from '../auth/principal.ts'
import type { RequestHead } from '../http1/request-head.ts'
import { clientNetwork } from '../platform/client-network.ts'
import type { Access, GatedRoute, Route } from '../routes/route.ts'
import type { Rate } from '../store/rates.ts'
import type { Step } from './explanation.ts'

/** The result of a step, in words and for programs. */
type StepResult = Pick<Step, 'detail' | 'facts'>

export function describeScheme(access: Access, { kind }: Credentials): StepResult {
  if (access.kind === 'public') {
    return { detail: 'not looked at: the route is public', facts: { accepted: [], sent: null } }
  }
  const { schemes, isOptional } = access
  const accepted = `accepted here: ${schemes.join(', ')}${isOptional ? ', or none' : ''}`
  const sent = kind === 'secretKey' || kind === 'bearer' ? kind : null
  return { detail: `${sent ?? 'none'} (${accepted})`, facts: { accepted: schemes, isOptional, sent } }
}

export function describePrincipal(principal: Principal | undefined): StepResult {
  if (!principal)
    return { detail: 'nobody: the request passes without an identity', facts: { principal: null } }
  const { accountId, role, scheme, sessionId, profile } = principal
  const session = sessionId === undefined ? '' : `, session ${sessionId}`
  const verified = profile?.isVerified === false ? 'not verified' : 'verified'
  return {
    detail: `account ${accountId}${profile ? ` (${profile.email}, ${verified})` : ''}, role ${role}${session}`,
    facts: {
      principal: {
        accountId,
        role,
        scheme,
        sessionId,
        email: profile?.email,
        isVerified: profile?.isVerified,
      },
    },
  }
}

export function describePolicy({ access }: GatedRoute): StepResult {
  if (access.kind === 'public')
    return { detail: 'everybody may pass', facts: { roles: null, verifiedOnly: false } }
  const roles = access.roles && [...access.roles]
  const who = roles ? `roles that may pass: ${roles.join(', ')}` : 'any role may pass'
  return {
    detail: `${who}${access.verifiedOnly ? '; verified accounts only' : ''}`,
    facts: { roles: roles ?? null, verifiedOnly: access.verifiedOnly },
  }
}

/** Who would be counted, and against which limit; how much of it is left is not looked up. */
export function describeLimits(
  { rateLimit, bodyBytesMax }: Route<unknown>,
  { principal, address }: { readonly principal: Principal | undefined; readonly address: string },
): StepResult {
  const bodyMax = Number.isFinite(bodyBytesMax) ? bodyBytesMax : null
  const body = bodyMax === null ? 'a body of any length' : `a body of ${bodyMax} bytes at most`
  if (!rateLimit) return { detail: `any number of requests; ${body}`, facts: { rate: null, bodyMax } }
  const { limit, perMs, by } = rateLimit
  const counted =
    by === 'account' && principal ? `account ${principal.accountId}` : `address ${clientNetwork(address)}`
  return {
    detail: `${limit} requests in ${perMs / 1_000} s, counted for ${counted} (nothing is counted now, nor is it looked up how many are left); ${body}`,
    facts: { rate: { limit, perMs, by, counted }, bodyMax },
  }
}

/** What becomes of trailer fields: only chunks can carry them. */
export function describeTrailers({ body }: RequestHead, { passesTrailers }: Route<unknown>): StepResult {
  if (body.kind !== 'chunked') return { detail: '', facts: {} }
  return passesTrailers
    ? { detail: ', and its trailer fields', facts: { trailers: 'pass' } }
    : { detail: ', without its trailer fields', facts: { trailers: 'drop' } }
}

export function describeWrongKey(address: string, { limit, perMs }: Rate): string {
  return `The secret key is malformed, unknown or has been reset. It would count as a failure of ${clientNetwork(address)}, of which ${limit} in ${perMs / 1_000} s get this answer and any more get 429. Nothing was counted now.`
}
