import { isWebSocketUpgrade } from '../http/upgrade.ts'
import type { RequestHead } from '../http1/request-head.ts'
import type { RequestHeadInput } from '../proxy/request-head.ts'
import { forwardedPrefix } from '../proxy/stripped-prefix.ts'
import type { Route } from '../routes/route.ts'
import type { StepResult } from './explanation.ts'

/** What was removed from the path, and is put back in the answer. */
export function describePrefix({ strippedPrefix }: Pick<RequestHeadInput, 'strippedPrefix'>): StepResult {
  if (!strippedPrefix) return { detail: '', facts: {} }
  const prefix = forwardedPrefix(strippedPrefix)
  return {
    detail: ` (less the prefix ${strippedPrefix.own}; ${prefix} is put before paths in Location)`,
    facts: { strippedPrefix: strippedPrefix.own, forwardedPrefix: prefix },
  }
}

/** An upgrade that the route does not proxy. */
export function describeIgnoredUpgrade(
  head: RequestHead,
  { isUpgrade }: Pick<RequestHeadInput, 'isUpgrade'>,
): StepResult {
  if (head.upgrade === undefined || isUpgrade) return { detail: '', facts: {} }
  const why = isWebSocketUpgrade(head)
    ? 'the route has no websocket: true'
    : 'only a GET without a body can become a WebSocket, and no other protocol is proxied'
  return { detail: `, as an ordinary request without Upgrade: ${why}`, facts: { isUpgradeIgnored: true } }
}

/** Whether trailer fields are forwarded: only a chunked body can have them. */
export function describeTrailers({ body }: RequestHead, { passesTrailers }: Route<unknown>): StepResult {
  if (body.kind !== 'chunked') return { detail: '', facts: {} }
  return passesTrailers
    ? { detail: ', and its trailer fields', facts: { trailers: 'pass' } }
    : { detail: ', without its trailer fields', facts: { trailers: 'drop' } }
}
