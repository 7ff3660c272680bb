import type { Tracer } from '#ops/tracing/tracer.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { GatedArrival } from '../arrival/arrival.ts'
import { principalOf, recordTrace, recordUpstream } from '../arrival/outcome.ts'
import { isLastOnConnection } from '../forward/connection-lines.ts'
import { readMaxForwards, withMaxForwards } from '../forward/max-forwards.ts'
import { readStrippedPrefix } from '../forward/stripped-prefix.ts'
import type { HeadUpstream, RequestHeadInput } from '../forward/upstream-head.ts'
import type { Route } from '../routes/route.ts'
import type { StepListener } from './gate-result.ts'
import { isWebSocketUpgrade } from './upgrades.ts'

export interface HeadPreparationOptions {
  /** undefined = traceparent is forwarded unchanged. */
  readonly tracer: Tracer | undefined
  /** Only `explain` passes one. */
  readonly steps?: StepListener | undefined
}

/**
 * Prepares the head for the upstream, once a request has passed the gate: what it is written from, and the trace of the
 * request; undefined = the gateway is the final recipient, and does not forward it.
 * @throws GatehouseError `body-too-large`, `request-invalid`
 */
type PrepareHead = (route: Route<HeadUpstream>, arrival: GatedArrival) => RequestHeadInput | undefined

export function createHeadPreparation({ tracer, steps }: HeadPreparationOptions): PrepareHead {
  return function prepareHead(route, { head, outcome, fields, client, requestId }) {
    const { body, minorVersion } = head
    if (body.kind === 'counted' && body.length > route.bodyBytesMax)
      throw new GatehouseError('body-too-large')
    steps?.passed('limits')
    const maxForwards = readMaxForwards(head)
    if (maxForwards === 0) return undefined
    const trace = tracer?.startTrace(head.rawHeaders)
    recordUpstream(outcome, route.upstream.name)
    if (trace) recordTrace(outcome, trace)
    const tracedHeaders = trace?.rawHeaders ?? head.rawHeaders
    const rawHeaders = maxForwards === undefined ? tracedHeaders : withMaxForwards(tracedHeaders, maxForwards)
    return {
      rawHeaders,
      traceparent: trace?.traceparent,
      route,
      principal: principalOf(outcome),
      client,
      requestId,
      body,
      strippedPrefix: readStrippedPrefix(route, head.rawHeaders, client.isTrusted),
      connectionOptions: fields.uncommon.connectionOptions,
      isUpgrade: route.websocket && isWebSocketUpgrade(head),
      isLast: isLastOnConnection(head, route),
      minorVersion,
    }
  }
}
