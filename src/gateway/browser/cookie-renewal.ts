import type { CookieTokens } from '#identity/tokens/cookie-tokens.ts'
import { tokenMaxAgeS } from '#identity/tokens/jwt.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { EventualResult } from '../gate/decision-effects.ts'
import type { Gate } from '../gate/gate.ts'
import { recordCookieLine } from '../gate/outcome.ts'
import type { GatedRoute } from '../routes/route.ts'
import { type Arrival, credentialsOf } from '../server/arrival.ts'

interface CookieRenewalOptions {
  readonly tokens: Pick<CookieTokens, 'renew'>
  readonly name: string
  readonly path: string
  readonly sameSite: 'Strict' | 'Lax' | 'None'
  readonly isSecure: boolean
}

/** Notes the line that renews the access cookie of an admitted request, if that is due. */
export type RenewAccessCookie = (arrival: Arrival<unknown>) => void | Promise<void>

/** A tab that is left open works on as long as its requests come, and the sign-in lasts. */
export function createAccessCookieRenewal(options: CookieRenewalOptions): RenewAccessCookie {
  const { tokens, name, path, sameSite, isSecure } = options
  const attributes = `; Path=${path}; HttpOnly${isSecure ? '; Secure' : ''}; SameSite=${sameSite}\r\n`

  function note({ outcome }: Arrival<unknown>, token: string | undefined): void {
    if (token === undefined) return
    recordCookieLine(outcome, `Set-Cookie: ${name}=${token}; Max-Age=${tokenMaxAgeS(token)}${attributes}`)
  }

  return function renewAccessCookie(arrival) {
    const credentials = credentialsOf(arrival)
    if (credentials.kind !== 'bearer') return
    const token = tokens.renew(credentials.text)
    if (token instanceof Promise) return token.then((renewed) => note(arrival, renewed))
    note(arrival, token)
  }
}

/** A gate that renews the access cookie of what it admits by it. */
export function withCookieRenewal<MatchedRoute extends GatedRoute, Incoming extends Arrival<unknown>>(
  gate: Gate<MatchedRoute, Incoming>,
  renew: RenewAccessCookie,
): Gate<MatchedRoute, Incoming> {
  function renewed(result: MatchedRoute | GatehouseError, arrival: Incoming): EventualResult<MatchedRoute> {
    const { decision } = arrival.outcome
    if (decision?.kind !== 'allowed' || decision.scheme !== 'cookie') return result
    if (result instanceof GatehouseError) return result
    const renewing = renew(arrival)
    return renewing ? renewing.then(() => result) : result
  }

  return (arrival) => {
    const result = gate(arrival)
    return result instanceof Promise
      ? result.then((settled) => renewed(settled, arrival))
      : renewed(result, arrival)
  }
}
