import { clientNetwork } from '#platform/addresses.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { exceededRateOf, type Rate, type RateResult } from '#store/rates.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Wrong credentials by address. */
export const failurePurpose = 'failure ip'

/**
 * Counts a wrong credential from an address: first in this process, so that a flood never reaches the store, then in
 * all workers, and across instances unless it is malformed. Call it once the credential is known to be wrong: a valid
 * one is never rejected because of others. Synchronous if only this process counts.
 * @returns `too-many-failures` if there were too many
 */
export function countFailure(
  limiter: RateLimiter,
  rate: Rate,
  { address, isMalformed }: { readonly address: string; readonly isMalformed: boolean },
): GatehouseError | undefined | Promise<GatehouseError | undefined> {
  const subject = clientNetwork(address)
  const here = limiter.takeInProcess(failurePurpose, subject, rate)
  if (!here.isAllowed) return tooManyFailures(rate, here)
  if (isMalformed && !limiter.takeInInstance) return undefined
  return countShared(limiter, rate, { subject, here, isMalformed })
}

/** Counts a wrong credential from an address. @throws GatehouseError `too-many-failures` */
export async function countFailureOrThrow(limiter: RateLimiter, rate: Rate, address: string): Promise<void> {
  const excess = await countFailure(limiter, rate, { address, isMalformed: false })
  if (excess) throw excess
}

async function countShared(
  limiter: RateLimiter,
  rate: Rate,
  {
    subject,
    here,
    isMalformed,
  }: { readonly subject: string; readonly here: RateResult; readonly isMalformed: boolean },
): Promise<GatehouseError | undefined> {
  const known = (await limiter.takeInInstance?.(failurePurpose, subject, rate).catch(() => here)) ?? here
  const taken = known.isAllowed && !isMalformed ? await limiter.take(failurePurpose, subject, rate) : known
  return taken.isAllowed ? undefined : tooManyFailures(rate, taken)
}

function tooManyFailures(rate: Rate, taken: RateResult): GatehouseError {
  return new GatehouseError('too-many-failures', { rate: exceededRateOf('failures', rate, taken) })
}

/** How many refused sign-ins of each kind one process writes to the audit log, for all accounts. */
const auditRate: Rate = { limit: 1_000, perMs: 3_600_000 }

/** Counts an entry of the audit log about a refused sign-in. @returns whether it may be written */
export function takeAuditEntry(
  limiter: Pick<RateLimiter, 'takeInProcess'>,
  kind: 'password' | 'passkey' | 'oidc',
): boolean {
  return limiter.takeInProcess('audit sign-in-failed', kind, auditRate).isAllowed
}
