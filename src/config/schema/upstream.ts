import { createUpstreamHeaders } from '#http/upstream/upstream-config.ts'
import {
  choice,
  duration,
  either,
  headerChanges,
  integer,
  item,
  list,
  publicPem,
  secret,
  section,
  text,
  tlsTrust,
} from './fields.ts'
import { convert, convertResolved, optional, renamed } from './node.ts'

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

const health = section('Which targets get requests.', {
  active: optional(active),
  passive: optional(passive),
})

/** Before the path of a Unix socket. */
export const unixPrefix = 'unix:'

const target = item('One backend server.', {
  url: convert(
    text({
      description:
        'Where it listens: an origin, with or without a base path, such as `http://10.0.0.11:3000/base`, or `unix:` and the path of a socket, such as `unix:/run/app.sock`. With `host: target` the backend there gets `localhost` as its Host. The base path precedes the path of every request, WebSocket and health check, and is removed from what the backend says about its own paths.',
    }),
    (url, lookup) =>
      new URL(
        url.startsWith(unixPrefix)
          ? unixPrefix + encodeURI(lookup.resolvePath(url.slice(unixPrefix.length)))
          : url,
      ),
  ),
  weight: integer({
    minimum: 1,
    maximum: 1_000,
    default: 1,
    description: 'Share of the requests, relative to the other targets.',
  }),
})

export const upstream = convertResolved(
  item('A named backend that routes send requests to.', {
    targets: list(target, { minItems: 1, maxItems: 256, description: 'The servers.' }),
    resolve: choice(['first', 'all'], {
      default: 'first',
      description:
        'Which addresses of host names are used: first = each new connection goes to the first address that takes it, all = each address (A and AAAA) is a target of its own, with its own weight, connections and health, and the name is looked up again when the TTL is over.',
    }),
    balancing: choice(['roundRobin', 'leastRequests', 'ipHash', 'sticky'], {
      default: 'roundRobin',
      description:
        'Which target gets a request, by weight: roundRobin = weighted round robin, leastRequests = fewest requests in flight, ipHash = by client address, sticky = always the same, named by a cookie of the gateway.',
    }),
    health,
    timeouts: section('How long the gateway waits for the backend.', {
      connect: renamed(
        'connectTimeoutMs',
        duration({
          min: '10ms',
          max: '5m',
          default: '2s',
          description: 'Until a connection is available, including the wait for a free one.',
        }),
      ),
      response: renamed(
        'responseTimeoutMs',
        duration({
          min: '10ms',
          max: '24h',
          default: '30s',
          description:
            'From the end of the request, or from its head while the client waits for a 100, to the head of the response.',
        }),
      ),
      idle: renamed(
        'idleTimeoutMs',
        duration({
          min: '10ms',
          max: '24h',
          default: '60s',
          description: 'Maximum idle time within a body.',
        }),
      ),
    }),
    retries: section('Retries after a failure.', {
      attempts: renamed(
        'retryAttempts',
        integer({
          minimum: 0,
          maximum: 10,
          default: 1,
          description:
            'How many other healthy targets are tried: for GET, HEAD, OPTIONS and QUERY without a body, or when no connection was made, or an HTTP/2 target says that it has not processed the request. Apart from that, a request that met a connection that was just closing is sent once more to the same target.',
        }),
      ),
    }),
    protocol: choice(['http1', 'http2'], {
      default: 'http1',
      description:
        'Protocol of the targets. http2 is negotiated by ALPN over TLS, and otherwise used by prior knowledge (h2c); gRPC needs it.',
    }),
    connections: renamed(
      'connectionsMax',
      integer({
        minimum: 1,
        maximum: 65_535,
        default: 128,
        description:
          'Maximum connections from each worker to one target; with `protocol: http2`, the maximum number of concurrent requests. WebSockets do not count; event streams are counted apart, up to as many again.',
      }),
    ),
    headers: convertResolved(
      headerChanges(
        convert(
          either(
            text({ description: 'The value.' }),
            secret({ description: 'The whole value, such as `Bearer …`; a reload reads it again.' }),
            {
              description:
                'The value of a field by its name: visible ASCII, at most 8,192 characters; as text, or as a secret, which is never shown. It replaces all fields of the client with that name; only letters and digits of names are compared. Health checks get it too.',
            },
          ),
          (value, lookup) =>
            typeof value === 'string'
              ? { value, isSecret: false }
              : { value: lookup.secret(value), isSecret: true },
        ),
        {
          description: 'Changes to the header fields of requests for the backend.',
          set: 'Fields set in every request: at most 64, and 16,384 characters together.',
          remove:
            "Fields of the client's request that the backend does not get; only letters and digits of names are compared.",
        },
      ),
      ({ set, remove }) =>
        createUpstreamHeaders(
          Object.entries(set).map(([name, field]) => ({ name, ...field })),
          remove,
        ),
    ),
    host: choice(['client', 'target'], {
      default: 'client',
      description: "Which Host header the backend sees: the client's or the target's own.",
    }),
    tls: section('TLS to https:// targets, also for their health checks.', {
      ...tlsTrust('the backend'),
      serverName: optional(
        text({
          description:
            'Server name that is sent to the targets (SNI), and that their certificates must have; default: the host of each.',
        }),
      ),
      cert: optional(
        publicPem({
          description:
            'Client certificate (PEM) that the gateway presents, with its chain; needs `key`. A reload reads both again.',
        }),
      ),
      key: optional(secret({ description: 'The private key (PEM) of `cert`, without a passphrase.' })),
    }),
  }),
  ({ timeouts, retries, ...options }) => ({ ...options, ...timeouts, ...retries }),
)
