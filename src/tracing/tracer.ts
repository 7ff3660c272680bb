import { isNamed, onlyValueOf } from '../http1/raw-headers.ts'
import {
  formatTraceparent,
  newSpanId,
  newTraceId,
  parseTraceparent,
  type TraceContext,
} from './trace-context.ts'

/** A request in its trace. */
export interface Trace extends TraceContext {
  /** The span of the whole request. */
  readonly spanId: string
  /** The span of the upstream request, which the upstream gets as its parent. */
  readonly upstreamSpanId: string
  /** The header fields that the upstream gets: name, value, name, value. */
  readonly rawHeaders: readonly string[]
}

/** Finds the place of a request in its trace, or starts a trace. */
export interface Tracer {
  /** @param rawHeaders name, value, name, value, as they arrived */
  startTrace(rawHeaders: readonly string[]): Trace
}

/**
 * Follows the decision of the caller (parent-based), and samples a share of the traces that start here.
 * @param sampleRatio from 0 to 1
 */
export function createTracer(sampleRatio: number): Tracer {
  return {
    startTrace: (rawHeaders) => {
      const text = onlyValueOf(rawHeaders, 'traceparent')
      const parent = text === undefined ? undefined : parseTraceparent(text)
      const context = parent ?? {
        traceId: newTraceId(),
        parentId: undefined,
        isSampled: Math.random() < sampleRatio,
      }
      const spanId = newSpanId()
      const upstreamSpanId = newSpanId()
      // The gateway sends no span: the upstream's parent is then the caller's span.
      if (parent && !parent.isSampled) return { ...context, spanId, upstreamSpanId, rawHeaders }
      const traceparent = formatTraceparent(context.traceId, upstreamSpanId, context.isSampled)
      return {
        ...context,
        spanId,
        upstreamSpanId,
        rawHeaders: [...withoutTraceHeaders(rawHeaders, parent === undefined), 'traceparent', traceparent],
      }
    },
  }
}

/** tracestate belongs to the traceparent that came with it (W3C Trace Context 3.3). */
function withoutTraceHeaders(rawHeaders: readonly string[], dropsState: boolean): readonly string[] {
  const kept: string[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    if (isNamed(name, 'traceparent') || (dropsState && isNamed(name, 'tracestate'))) continue
    kept.push(name, rawHeaders[index + 1] ?? '')
  }
  return kept
}
