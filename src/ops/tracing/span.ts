/** A unit of work in a trace, as it is sent. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: 'server' | 'client'
  /** On the clock of performance.now(). */
  readonly startMs: number
  readonly endMs: number
  readonly isError: boolean
  /** Undefined attributes are left out. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>
}

/** Numbers of SpanKind and StatusCode in OTLP. */
const kinds = { server: 2, client: 3 } as const
const errorCode = 2

/** Spans as a request of OTLP/HTTP in JSON (ExportTraceServiceRequest). */
export function encodeSpans(spans: readonly Span[], resource: Readonly<Record<string, string>>): string {
  // The spans' clock is monotonic; the system's may have been set since the start.
  const originMs = Date.now() - performance.now()
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [
          { scope: { name: 'gatehouse' }, spans: spans.map((span) => encodeSpan(span, originMs)) },
        ],
      },
    ],
  })
}

function encodeSpan(
  { traceId, spanId, parentSpanId, name, kind, startMs, endMs, isError, attributes }: Span,
  originMs: number,
) {
  return {
    traceId,
    spanId,
    // JSON leaves out what is undefined.
    parentSpanId,
    name,
    kind: kinds[kind],
    startTimeUnixNano: unixNano(originMs + startMs),
    endTimeUnixNano: unixNano(originMs + endMs),
    attributes: attributesOf(attributes),
    status: isError ? { code: errorCode } : {},
  }
}

function attributesOf(attributes: Span['attributes']) {
  const encoded = []
  for (const key in attributes) {
    const value = attributes[key]
    if (value === undefined) continue
    // In protobuf's JSON 64-bit integers are texts.
    encoded.push({
      key,
      value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
    })
  }
  return encoded
}

/** As text, to the microsecond: a number cannot represent it exactly. */
function unixNano(atMs: number): string {
  return `${Math.round(atMs * 1_000)}000`
}
