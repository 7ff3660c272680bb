import { authenticate } from '../auth/authenticate.ts'
import type { Principal } from '../auth/principal.ts'
import type { Config } from '../config/config.ts'
import { type Code, GatehouseError } from '../errors.ts'
import type { GatedRoute } from '../routes/route.ts'
import type { Arrived } from './arrive.ts'
import type { Callers } from './callers.ts'
import type { Trail } from './trail.ts'
import { ofPrincipal, ofScheme, ofWrongKey } from './wording.ts'

export interface Identifying {
  readonly schemes: Callers['schemes']
  readonly config: Config
  readonly trail: Trail
}

/** Refusals about the kind of the credentials, not about who is calling. */
const ofCredentials = new Set(['credentials-missing', 'credentials-ambiguous', 'scheme-not-accepted'])

/** Finds out who is calling; undefined = nobody. @throws GatehouseError if the caller is refused */
export async function identify(
  { fields, client }: Arrived,
  { access }: GatedRoute,
  { schemes, config, trail }: Identifying,
): Promise<Principal | undefined> {
  trail.begin('scheme')
  const pending = authenticate(access, fields.credentials, schemes)
  // A credential that has to be looked up is of an accepted scheme, whatever the result.
  if (pending instanceof Promise) trail.pass('scheme', ofScheme(access, fields.credentials), 'principal')
  const decision = await pending
  const isRefused = decision.kind === 'refused'
  const isOfScheme = isRefused && ofCredentials.has(decision.code)
  if (!(pending instanceof Promise) && !isOfScheme) {
    trail.pass('scheme', ofScheme(access, fields.credentials), 'principal')
  }
  if (isRefused) throw new GatehouseError(decision.code, countedAs(decision.code, client.address, config))
  trail.pass('principal', ofPrincipal(decision.principal), 'policy')
  return decision.principal
}

/** What the gateway would do besides refusing. */
function countedAs(code: Code, address: string, { failures }: Config): { readonly detail?: string } {
  return code === 'secret-key-invalid' ? { detail: ofWrongKey(address, failures) } : {}
}
