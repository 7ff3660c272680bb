import { choice, duration, flag, integer, item, list, optional, secret, section, text } from './fields.ts'

const target = item('One backend server.', {
  url: text({ description: 'http:// or https:// origin of the backend, without a path.' }),
  weight: integer({
    minimum: 1,
    maximum: 1_000,
    default: 1,
    description: 'Share of the requests beside the other targets.',
  }),
})

export const upstream = item('A named backend that routes send requests to.', {
  targets: list(target, { minItems: 1, maxItems: 256, description: 'The servers, taken in turn.' }),
  timeouts: section('How long the gateway waits for the backend.', {
    connect: duration({
      min: '10ms',
      max: '5m',
      default: '2s',
      description: 'Until a connection stands, waiting for a free one included.',
    }),
    response: duration({
      min: '10ms',
      max: '24h',
      default: '30s',
      description: 'Until the head of the response, from the end of the request.',
    }),
    idle: duration({ min: '10ms', max: '24h', default: '60s', description: 'Silence within a body.' }),
  }),
  retries: section('Another try after a failure.', {
    attempts: integer({
      minimum: 0,
      maximum: 10,
      default: 1,
      description:
        'Other targets tried: for GET, HEAD and OPTIONS without a body, or when no connection was made.',
    }),
  }),
  connections: integer({
    minimum: 1,
    maximum: 65_535,
    default: 128,
    description: 'Most connections to one target, WebSockets not counted.',
  }),
  host: choice(['client', 'target'], {
    default: 'client',
    description: "Which Host header the backend sees: the client's or the target's own.",
  }),
  tls: section('For https:// targets.', {
    verify: flag(true, "Whether the backend's certificate is checked."),
    ca: optional(secret({ description: 'Certificates (PEM) to trust instead of the system ones.' })),
  }),
})
