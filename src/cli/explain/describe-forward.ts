import type { Config } from '#config/config.ts'
import type { SecondTargets } from '#gateway/forward/forwarded-request.ts'
import type { RequestHeadInput } from '#gateway/forward/request-head.ts'
import { forwardedPrefix } from '#gateway/forward/stripped-prefix.ts'
import { destinationOf } from '#gateway/gate/outcome.ts'
import { isWebSocketUpgrade } from '#gateway/gate/route-request.ts'
import { type Route, upstreamTarget } from '#gateway/routes/route.ts'
import type { RequestHead } from '#http/exchange/request-head.ts'
import type { UpstreamConfig } from '#http/upstream/upstream.ts'
import type { StepResult } from './explanation.ts'
import type { ExplainedArrival } from './read-arrival.ts'
import { redactTarget } from './redact.ts'
import { addressesOf, parseLines, showUpstreamHead } from './upstream-head.ts'

interface ExplainedForward {
  readonly route: Route<UpstreamConfig>
  readonly arrival: ExplainedArrival
  readonly input: RequestHeadInput
  /** undefined = the request names none. */
  readonly secondTargets: SecondTargets | undefined
}

/** What the upstream would get. */
export function describeUpstream(
  config: Config,
  { route, arrival, input, secondTargets }: ExplainedForward,
): StepResult {
  const { head, outcome } = arrival
  const { upstream } = route
  const headers = showUpstreamHead(config, { upstream, arrival, input, secondTargets })
  const { basePath = '' } = addressesOf(upstream)[0] ?? {}
  const target = redactTarget(basePath + upstreamTarget(route, destinationOf(outcome).target))
  const notes = [describePrefix(input), describeTrailers(head, route), describeIgnoredUpgrade(head, input)]
  return {
    detail: `${upstream.name} receives ${head.method} ${target}${notes.map(({ detail }) => detail).join('')}`,
    facts: {
      upstream: upstream.name,
      method: head.method,
      target,
      headers,
      ...Object.assign({}, ...notes.map(({ facts }) => facts)),
    },
  }
}

/** The second targets of the request, which have passed. */
export function describeSecondTargets({ lines, destination }: SecondTargets): StepResult {
  const own =
    destination === undefined ? '' : `Destination: ${destination.origin ?? ''}${destination.path}\r\n`
  const targets = parseLines(own + lines).map(({ name, value }) => ({ name, value: redactTarget(value) }))
  const told = targets.map(({ name, value }) => `${name}: ${value}`).join(', ')
  return { detail: told === '' ? 'allowed' : `allowed; the upstream gets ${told}`, facts: { targets } }
}

/** What was removed from the path, and is put back in the answer. */
function describePrefix({ strippedPrefix }: Pick<RequestHeadInput, 'strippedPrefix'>): StepResult {
  if (!strippedPrefix) return { detail: '', facts: {} }
  const prefix = forwardedPrefix(strippedPrefix)
  return {
    detail: ` (less the prefix ${strippedPrefix.own}; ${prefix} is put before paths in Location)`,
    facts: { strippedPrefix: strippedPrefix.own, forwardedPrefix: prefix },
  }
}

/** An upgrade that the route does not proxy. */
function describeIgnoredUpgrade(
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
function describeTrailers({ body }: RequestHead, { passesTrailers }: Route<unknown>): StepResult {
  if (body.kind !== 'chunked') return { detail: '', facts: {} }
  return passesTrailers
    ? { detail: ', and its trailer fields', facts: { trailers: 'pass' } }
    : { detail: ', without its trailer fields', facts: { trailers: 'drop' } }
}
