import { parsePairs } from '../units.ts'
import { item, named, ratio, secret, text } from './fields.ts'
import { convertResolved, optional, type ValueOf } from './node.ts'
import type { Review } from './review.ts'

/** As OpenTelemetry names attributes. */
const resourceKeyPattern = '^[A-Za-z][A-Za-z0-9._-]{0,127}$'

export const tracing = optional(
  convertResolved(
    item('Traces of requests; absent = traceparent is forwarded unchanged.', {
      otlp: item('Where they are sent, as OTLP/HTTP in JSON.', {
        endpoint: text({ description: 'URL of the collector, to which /v1/traces is added.' }),
        headers: optional(
          convertResolved(
            secret({
              description:
                'Header fields for the collector, such as an API key: `name=value`, separated by commas, percent-encoded, as in OTEL_EXPORTER_OTLP_HEADERS.',
            }),
            parsePairs,
          ),
        ),
        resource: named(
          text({ description: 'The value.' }),
          {
            default: {},
            maxProperties: 64,
            description: 'Attributes of the gateway; `service.name` is `gatehouse` unless it is among them.',
          },
          resourceKeyPattern,
        ),
        sampleRatio: ratio({
          default: 0.05,
          description:
            'Sampling ratio of traces started by the gateway; other traces follow the sampled flag of their traceparent.',
        }),
      }),
    }),
    ({ otlp: { endpoint, headers = {}, resource, sampleRatio } }) => ({
      /** URL that accepts traces. */
      url: `${withoutTrailingSlashes(endpoint)}/v1/traces`,
      headers,
      resource,
      sampleRatio,
    }),
  ),
)

function withoutTrailingSlashes(url: string): string {
  return url.endsWith('/') ? withoutTrailingSlashes(url.slice(0, -1)) : url
}

/** What the rules about traces read. */
interface TracingTree {
  readonly tracing?: ValueOf<typeof tracing>
}

/** Checks that the collector's endpoint is a URL to which a path can be added. */
export function reviewTracing(review: Review<TracingTree>): void {
  const { tracing } = review.tree
  reviewTraceHeaders(review)
  if (tracing) review.check(['tracing', 'otlp', 'endpoint'], () => endpointProblem(tracing.otlp.endpoint))
}

function endpointProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    return 'must be a URL such as http://localhost:4318'
  if (url.username || url.password) return 'must not contain credentials'
  return url.search || url.hash ? 'must have no query or fragment: /v1/traces is added to it' : undefined
}

function reviewTraceHeaders(review: Review<TracingTree>): void {
  const path = ['tracing', 'otlp', 'headers']
  const reference = review.isValid(path) ? review.tree.tracing?.otlp.headers : undefined
  if (!reference) return
  const text = review.secret(path, reference)
  if (text === undefined) return
  try {
    const pairs = parsePairs(text)
    if (Object.keys(pairs).length === 0) throw new TypeError('no pair')
    new Headers(pairs)
  } catch {
    review.report(path, 'must be header fields such as api-key=…,x-team=a')
  }
}
