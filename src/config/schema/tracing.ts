import { item, optional, ratio, text } from './fields.ts'

export const tracing = optional(
  item('Traces of requests; absent = traceparent is forwarded unchanged.', {
    otlp: item('Where they are sent, as OTLP/HTTP in JSON.', {
      endpoint: text({ description: 'URL of the collector, to which /v1/traces is added.' }),
      sampleRatio: ratio({
        default: 0.05,
        description:
          'Sampling ratio of traces started by the gateway; other traces follow the sampled flag of their traceparent.',
      }),
    }),
  }),
)
