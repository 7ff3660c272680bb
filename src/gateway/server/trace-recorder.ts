import type { Exporter } from '#ops/tracing/exporter.ts'
import type { Tracer } from '#ops/tracing/tracer.ts'
import type { Arrival } from './arrival.ts'
import { registeredMethods } from './observe.ts'

/** OpenTelemetry's name for a method that it does not know. */
const otherMethod = '_OTHER'

/**
 * Creates the function that sends the spans of a request that is over, if its trace is sampled: one for the request,
 * and one for its upstream call. Like metrics, they contain no path, key or address.
 */
export function createTraceRecorder(
  tracer: Tracer,
  exporter: Pick<Exporter, 'add'>,
): (arrival: Arrival, now: number) => void {
  return function recordTrace(arrival, now) {
    const { head, outcome, arrivedAt, requestId } = arrival
    // A request that went to no upstream has no trace yet.
    const trace = outcome.trace ?? tracer.startTrace(head.rawHeaders)
    if (!trace.isSampled) return
    const { route, decision, upstream, status, code, sentAt, answeredAt } = outcome
    const method = registeredMethods.has(head.method) ? head.method : otherMethod
    const { traceId, parentId, spanId, upstreamSpanId } = trace
    const isServerError = status !== undefined && status >= 500
    exporter.add({
      traceId,
      spanId,
      parentSpanId: parentId,
      kind: 'server',
      startMs: arrivedAt,
      endMs: now,
      name: `${method} ${route}`,
      isError: isServerError,
      attributes: {
        'http.request.method': method,
        'http.response.status_code': status,
        'error.type': code ?? (isServerError ? String(status) : undefined),
        'gatehouse.route': route,
        'gatehouse.scheme': decision?.scheme,
        'gatehouse.request_id': requestId,
      },
    })
    if (upstream === undefined || sentAt === undefined) return
    // The status of a problem sent by the gateway instead is not the upstream's.
    const upstreamStatus = code === undefined ? status : undefined
    const isError = code !== undefined || (upstreamStatus !== undefined && upstreamStatus >= 400)
    exporter.add({
      traceId,
      spanId: upstreamSpanId,
      parentSpanId: spanId,
      kind: 'client',
      startMs: sentAt,
      endMs: answeredAt ?? now,
      name: `${method} ${upstream}`,
      isError,
      attributes: {
        'http.request.method': method,
        'http.response.status_code': upstreamStatus,
        'error.type': code ?? (isError ? String(upstreamStatus) : undefined),
        'gatehouse.upstream': upstream,
      },
    })
  }
}
