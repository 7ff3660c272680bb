import { item, optional, ratio, text } from './fields.ts'

export const tracing = optional(
  item('Traces of requests; absent = traceparent is passed on and nothing else.', {
    otlp: item('Where they are sent, as OTLP/HTTP in JSON.', {
      endpoint: text({ description: 'URL of the collector, to which /v1/traces is added.' }),
      sampleRatio: ratio({
        default: 0.05,
        description: 'Share of the traces begun here that are sent; for others, their sender has decided.',
      }),
    }),
  }),
)
