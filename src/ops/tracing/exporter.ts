import { trustSystemAuthorities } from '#platform/certificate-authorities.ts'
import { signalAtDeadline } from '#platform/deadline.ts'
import type { Log } from '#platform/log/log.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { Count } from '../metrics/instrument.ts'

/** Sends spans to a collector in the background: adding one never waits. */
export interface Exporter {
  /** Queues a span, or drops and counts it if the queue is full. */
  add(span: Span): void
  /** Sends the queued spans, within two seconds. A later span, of a request still in flight, is sent immediately. */
  close(): Promise<void>
}

interface ExporterOptions {
  /** The URL that accepts traces. */
  readonly url: string
  /** Header fields of each request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Attributes of the sender, such as `service.name`. */
  readonly resource: Readonly<Record<string, string>>
  readonly counts: {
    readonly sent: Count
    readonly dropped: Count
    readonly failed: Count
  }
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** How many spans may be queued. */
export const queueMax = 4_096
/** How many are sent at once, as by OpenTelemetry's SDKs. */
export const batchMax = 512
const sendIntervalMs = 1_000
const timeoutMs = 5_000
const drainGraceMs = 2_000

export function openExporter({ url, headers, resource, counts, log }: ExporterOptions): Exporter {
  let queue: Span[] = []
  let sending: Promise<void> | undefined
  let closing: Promise<void> | undefined
  let isFailing = false
  let isClosed = false
  const abort = new AbortController()
  if (url.startsWith('https:')) trustSystemAuthorities()
  const timer = setInterval(send, sendIntervalMs).unref()

  function add(span: Span): void {
    if (abort.signal.aborted || queue.length >= queueMax) {
      counts.dropped.value++
      return
    }
    queue.push(span)
    if (isClosed || queue.length >= batchMax) send()
  }

  /** One batch at a time, so that a slow collector is not overloaded. */
  function send(): void {
    if (sending || queue.length === 0) return
    sending = sendBatches().finally(() => {
      sending = undefined
    })
  }

  async function sendBatches(): Promise<void> {
    while (queue.length > 0 && !abort.signal.aborted) {
      const batch = queue.slice(0, batchMax)
      queue = queue.slice(batchMax)
      const problem = await post(batch)
      counts[problem === undefined ? 'sent' : 'failed'].value += batch.length
      report(problem)
    }
  }

  /** @returns what went wrong */
  async function post(batch: readonly Span[]): Promise<string | undefined> {
    const { signal, clear } = signalAtDeadline(timeoutMs)
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: encodeSpans(batch, resource),
        redirect: 'error',
        signal: AbortSignal.any([abort.signal, signal]),
      })
      await response.body?.cancel()
      return response.ok ? undefined : `the collector responded with ${response.status}`
    } catch (error) {
      return error instanceof Error ? error.message : 'unreachable'
    } finally {
      clear()
    }
  }

  /** Logs once when sending begins to fail, and once when it works again. */
  function report(reason: string | undefined): void {
    if (reason !== undefined && !isFailing) log.warn({ reason }, 'trace collector rejects spans')
    if (reason === undefined && isFailing) log.info('trace collector accepts spans again')
    isFailing = reason !== undefined
  }

  async function finish(): Promise<void> {
    isClosed = true
    clearInterval(timer)
    const graceTimer = setTimeout(() => abort.abort(), drainGraceMs)
    await sending
    send()
    await sending
    clearTimeout(graceTimer)
    counts.dropped.value += queue.length
    queue = []
  }

  return {
    add,
    close: () => {
      closing ??= finish()
      return closing
    },
  }
}

/** A unit of work in a trace, as it is sent. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly kind: 'server' | 'client'
  readonly startMs: MonotonicMs
  readonly endMs: MonotonicMs
  readonly isError: boolean
  /** Undefined attributes are left out. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>
}

/** Numbers of SpanKind and StatusCode in OTLP. */
const kinds = { server: 2, client: 3 } as const
const errorCode = 2

/** Spans as a request of OTLP/HTTP in JSON (ExportTraceServiceRequest). */
function encodeSpans(spans: readonly Span[], resource: Readonly<Record<string, string>>): string {
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

/** As text, in microseconds, which a number cannot represent exactly. */
function unixNano(atMs: number): string {
  return `${Math.round(atMs * 1_000)}000`
}
