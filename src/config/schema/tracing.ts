import { item, optional, ratio, text } from './fields.ts'

export const tracing = optional(
  item('Traces of requests; absent = traceparent is only passed on.', {
    otlp: item('Where they are sent, as OTLP/HTTP in JSON.', {
      endpoint: text({ description: 'URL of the collector, to which /v1/traces is added.' }),
      sampleRatio: ratio({
        default: 0.05,
        description:
          'Share of the traces begun by the gateway that are sent; for others, their traceparent decides.',
      }),
    }),
  }),
)
