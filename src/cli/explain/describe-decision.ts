import type { Config } from '#config/config.ts'
import { createDecisionWriter } from '#gateway/decide/decision-headers.ts'
import { principalOf } from '#gateway/gate/outcome.ts'
import type { Route } from '#gateway/routes/route.ts'
import type { UpstreamConfig } from '#http/upstream/upstream.ts'
import type { StepResult } from './explanation.ts'
import type { ExplainedArrival } from './read-arrival.ts'
import { assertionPlaceholder, parseLines } from './upstream-head.ts'

/** What a proxy would be told about an allowed request, by the same code as in the gateway. */
export function describeDecision(
  config: Config,
  route: Route<UpstreamConfig | undefined>,
  { outcome, requestId, head: { rawHeaders } }: ExplainedArrival,
): StepResult {
  const writer = createDecisionWriter({
    identityHeaders: config.identityHeaders,
    assertion: config.assertion.enabled ? assertionPlaceholder(config.assertion) : undefined,
  })
  const principal = principalOf(outcome)
  const headers = parseLines(writer.write({ principal, route, requestId, rawHeaders, trace: undefined }))
  return {
    detail: 'the proxy gets 200, and these headers for the request that it forwards',
    facts: { upstream: null, headers },
  }
}
