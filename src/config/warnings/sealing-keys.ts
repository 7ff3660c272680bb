import { readSealingKeys } from '#platform/secrets/sealing-key.ts'
import { formatDay, startOfDay } from '#platform/time.ts'
import type { Config } from '../config.ts'
import type { Warning } from '../problem.ts'

/** A sealing key that was replaced and is still accepted, although no refresh token can need it any more. */
export function findLeftSealingKeys({ keys, tokens }: Config, now: number): Warning[] {
  const since = previousSince(keys.sealingKey)
  if (since === undefined || now < startOfDay(since + 1) + tokens.refreshLifetimeMs) return []
  const message = `a previous key, replaced on ${formatDay(since)}, is still accepted`
  return [{ path: ['keys', 'sealingKey'], message, hint: 'gatehouse sealing-key rotate --drop' }]
}

/** undefined = there is none; what is wrong with the keys themselves is an error, and reported elsewhere. */
function previousSince(source: Config['keys']['sealingKey']): number | undefined {
  try {
    return readSealingKeys(source, { mayCreate: false }).previous?.since
  } catch {
    return undefined
  }
}
