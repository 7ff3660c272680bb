import { createUpstreamHeaders } from '#http/upstream/upstream-config.ts'
import {
  choice,
  duration,
  either,
  headerNamePattern,
  integer,
  item,
  list,
  named,
  publicPem,
  secret,
  section,
  text,
  tlsTrust,
} from './fields.ts'
import { convert, convertResolved, optional, renamed } from './node.ts'
import { health } from './upstream-health.ts'

/** The maximum number of header fields to set or to remove. */
const headersMax = 64

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
      section('Changes to the header fields of requests for the backend.', {
        set: named(
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
            default: {},
            maxProperties: headersMax,
            description: 'Fields set in every request: at most 64, and 16,384 characters together.',
          },
          headerNamePattern,
        ),
        remove: list(text({ pattern: headerNamePattern, description: 'The name of a header.' }), {
          default: [],
          maxItems: headersMax,
          description:
            "Fields of the client's request that the backend does not get; only letters and digits of names are compared.",
        }),
      }),
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
