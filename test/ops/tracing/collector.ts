import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { startServer } from '../../setup/backend.ts'

/** A span in the JSON of OTLP/HTTP. */
export interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code?: number }
  /** By key. */
  readonly attributes: Readonly<Record<string, unknown>>
}

type Attributes = readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[]

interface Body {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes }
    readonly scopeSpans: readonly {
      readonly spans: readonly (SentSpan & { readonly attributes: Attributes })[]
    }[]
  }[]
}

export interface Collector {
  readonly url: string
  readonly spans: SentSpan[]
  /** The sender of each batch. */
  readonly resources: Readonly<Record<string, unknown>>[]
  readonly requests: { readonly url: string; readonly type: string; readonly spans: number }[]
  /** How it responds from now on; undefined = not at all. */
  status: number | undefined
}

/** A server that accepts spans like a collector. */
export async function startCollector(t: Test): Promise<Collector> {
  const collector: Collector = { url: '', spans: [], resources: [], requests: [], status: 200 }
  const url = await startServer(t, async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    take(collector, request, response, JSON.parse(Buffer.concat(chunks).toString()) as Body)
  })
  return Object.assign(collector, { url })
}

function take(collector: Collector, request: IncomingMessage, response: ServerResponse, body: Body): void {
  const { status } = collector
  const spans = body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  const { url = '', headers } = request
  collector.requests.push({ url, type: headers['content-type'] ?? '', spans: spans.length })
  if (status === undefined) return
  if (status === 200) {
    collector.resources.push(...body.resourceSpans.map(({ resource }) => byKey(resource.attributes)))
    collector.spans.push(...spans.map((span) => ({ ...span, attributes: byKey(span.attributes) })))
  }
  response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}')
}

function byKey(attributes: Attributes): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}
