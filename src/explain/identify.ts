import { authenticate } from '../auth/authenticate.ts'
import type { Principal } from '../auth/principal.ts'
import type { Config } from '../config/config.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { GatedRoute } from '../routes/route.ts'
import type { DecisionTrace } from './decision-trace.ts'
import { describePrincipal, describeScheme, describeWrongKey } from './describe-steps.ts'
import type { ExplainedArrival } from './read-arrival.ts'
import type { ReadOnlyAuth } from './read-only-auth.ts'

export interface IdentifyContext {
  readonly schemes: ReadOnlyAuth['schemes']
  readonly config: Config
  readonly trace: DecisionTrace
}

/** Refusals for the kind of the credentials, not for the caller. */
const schemeErrorCodes = new Set(['credentials-missing', 'credentials-ambiguous', 'scheme-not-accepted'])

/** Authenticates the caller; undefined = anonymous. @throws GatehouseError if the caller is rejected */
export async function identify(
  { fields, client }: ExplainedArrival,
  { access }: GatedRoute,
  { schemes, config, trace }: IdentifyContext,
): Promise<Principal | undefined> {
  trace.beginStep('scheme')
  const pending = authenticate(access, fields.credentials, schemes)
  // A credential that has to be looked up is of an accepted scheme, whatever the result.
  if (pending instanceof Promise)
    trace.passStep('scheme', describeScheme(access, fields.credentials), 'principal')
  const decision = await pending
  const isRefused = decision.kind === 'refused'
  const isSchemeError = isRefused && schemeErrorCodes.has(decision.code)
  if (!(pending instanceof Promise) && !isSchemeError) {
    trace.passStep('scheme', describeScheme(access, fields.credentials), 'principal')
  }
  if (isRefused) throw new GatehouseError(decision.code, failureDetail(decision.code, client.address, config))
  trace.passStep('principal', describePrincipal(decision.principal), 'policy')
  return decision.principal
}

/** What the gateway would do in addition to rejecting the request. */
function failureDetail(code: ErrorCode, address: string, { failures }: Config): { readonly detail?: string } {
  return code === 'secret-key-invalid' ? { detail: describeWrongKey(address, failures) } : {}
}
