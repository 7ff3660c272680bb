import { duration, integer, item, section, text } from './fields.ts'
import { convertResolved, optional } from './node.ts'

const active = convertResolved(
  item('Health checks: requests that the gateway sends to each target; absent = none.', {
    path: optional(
      text({
        pattern: '^/[!"$-~]*$',
        description:
          'Requested with GET: a 2xx or 3xx status is healthy. It may have a query. Either this or `grpc`.',
      }),
    ),
    grpc: optional(
      item(
        'Asks the health service of gRPC (`grpc.health.v1.Health`) instead: SERVING is healthy; needs `protocol: http2`.',
        {
          service: text({
            pattern: '^[!-~]{0,255}$',
            default: '',
            description: 'Full name of a service, such as `shop.Orders`; empty = the server as a whole.',
          }),
        },
      ),
    ),
    interval: duration({
      min: '10ms',
      max: '1h',
      default: '5s',
      description: 'From one check of a target to the next, in each worker.',
    }),
    timeout: duration({
      min: '10ms',
      max: '5m',
      default: '2s',
      description:
        'How long a check may take, from connecting to the head of the response, or with `grpc` to its end.',
    }),
    unhealthyAfter: integer({
      minimum: 1,
      maximum: 100,
      default: 3,
      description: 'Consecutive failed checks that mark a target unhealthy.',
    }),
    healthyAfter: integer({
      minimum: 1,
      maximum: 100,
      default: 2,
      description: 'Consecutive successful checks that mark it healthy again.',
    }),
  }),
  ({ path, grpc, ...rest }) => ({
    // A rule requires one of the two.
    ...(grpc ? { grpcService: grpc.service } : { path: path ?? '/' }),
    ...rest,
  }),
)

const passive = item('Passive checks: failed requests of clients eject their target; absent = none.', {
  maxFailures: integer({
    minimum: 1,
    maximum: 1_000,
    default: 5,
    description:
      'Number of failures within the window that eject a target: no connection, no response in time, or an invalid response. A status such as 500 is not a failure.',
  }),
  window: duration({
    min: '10ms',
    max: '1h',
    default: '10s',
    description: 'How long a failure counts.',
  }),
  ejectFor: duration({
    min: '10ms',
    max: '24h',
    default: '15s',
    description: 'How long a target stays ejected before one request probes it.',
  }),
})

export const health = section('Which targets get requests.', {
  active: optional(active),
  passive: optional(passive),
})
