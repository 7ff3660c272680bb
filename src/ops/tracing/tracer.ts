import { randomFillSync } from 'node:crypto'
import { isNamed, onlyValueOf } from '#http/request-head.ts'

/** The place of a request in a trace (W3C Trace Context). */
interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The caller's span; undefined if the trace starts here. 16 hexadecimal digits. */
  readonly parentId: string | undefined
  readonly isSampled: boolean
}

/** A request in its trace. */
export interface Trace extends TraceContext {
  /** The span of the whole request. */
  readonly spanId: string
  /** The span of the upstream request, which the upstream gets as its parent. */
  readonly upstreamSpanId: string
  /**
   * The client's header fields that are forwarded: name, value, name, value. The received array, if nothing is dropped.
   */
  readonly rawHeaders: readonly string[]
  /** The traceparent to add for the upstream; undefined = none, or the client's is among the fields. */
  readonly traceparent: string | undefined
}

/** Finds the place of a request in its trace, or starts a trace. */
export interface Tracer {
  /** @param rawHeaders name, value, name, value, as they arrived */
  startTrace(rawHeaders: readonly string[]): Trace
}

/**
 * Follows the caller's decision (parent-based), and samples a share of the traces that start here.
 * @param sampleRatio from 0 to 1
 */
export function createTracer(sampleRatio: number): Tracer {
  return {
    startTrace: (rawHeaders) => {
      const text = onlyValueOf(rawHeaders, 'traceparent')
      const parent = text === undefined ? undefined : parseTraceparent(text)
      return parent ? continueTrace(parent, rawHeaders) : newTrace(rawHeaders, Math.random() < sampleRatio)
    },
  }
}

function newTrace(rawHeaders: readonly string[], isSampled: boolean): Trace {
  const traceId = createRandomHex(32)
  const spanId = newSpanId()
  // Without spans nobody can tell whether there is one ID or two.
  const upstreamSpanId = isSampled ? newSpanId() : spanId
  return {
    traceId,
    parentId: undefined,
    isSampled,
    spanId,
    upstreamSpanId,
    rawHeaders: withoutTraceHeaders(rawHeaders, true),
    traceparent: formatTraceparent(traceId, upstreamSpanId, isSampled),
  }
}

function continueTrace(parent: TraceContext, rawHeaders: readonly string[]): Trace {
  const spanId = newSpanId()
  const upstreamSpanId = newSpanId()
  // The gateway sends no span: the upstream's parent is then the caller's span.
  if (!parent.isSampled) return { ...parent, spanId, upstreamSpanId, rawHeaders, traceparent: undefined }
  return {
    ...parent,
    spanId,
    upstreamSpanId,
    rawHeaders: withoutTraceHeaders(rawHeaders, false),
    traceparent: formatTraceparent(parent.traceId, upstreamSpanId, true),
  }
}

/**
 * tracestate belongs to the traceparent that it was sent with (W3C Trace Context 3.3).
 * @returns the same array if it has neither, as most have, so that what is cached for it is found
 */
function withoutTraceHeaders(rawHeaders: readonly string[], dropsState: boolean): readonly string[] {
  const isDropped = (name: string | undefined) =>
    isNamed(name, 'traceparent') || (dropsState && isNamed(name, 'tracestate'))
  let kept: string[] | undefined
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    if (isDropped(rawHeaders[index])) kept ??= rawHeaders.slice(0, index)
    else kept?.push(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '')
  }
  return kept ?? rawHeaders
}

const traceparentPattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const allZeros = /^0+$/

/** @returns undefined if the text is malformed: a trace then starts here */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [whole, version, traceId = '', parentId = '', flags = '', more] = traceparentPattern.exec(text) ?? []
  if (whole === undefined || allZeros.test(traceId) || allZeros.test(parentId)) return undefined
  // Only later versions may append something, which is ignored (W3C Trace Context 4.3).
  if (version === '00' && more !== undefined) return undefined
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** The traceparent for calls on behalf of a request, with the span of that request as parent. */
export function traceparentOf({
  traceId,
  spanId,
  isSampled,
  parentId,
  rawHeaders,
}: Trace): string | undefined {
  // The gateway sends no span, as in startTrace.
  if (parentId !== undefined && !isSampled) return onlyValueOf(rawHeaders, 'traceparent')
  return formatTraceparent(traceId, spanId, isSampled)
}

function formatTraceparent(traceId: string, spanId: string, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

function newSpanId(): string {
  return createRandomHex(16)
}

/** Random bytes for many IDs at once, as each call is slow. */
const random = Buffer.alloc(1_024)
let batch = ''
let position = 0

/** Random hexadecimal digits. @param length at most twice the bytes of a batch */
function createRandomHex(length: number): string {
  if (position + length > batch.length) {
    batch = randomFillSync(random).toString('hex')
    position = 0
  }
  position += length
  return batch.slice(position - length, position)
}
