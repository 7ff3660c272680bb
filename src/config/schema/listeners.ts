import { availableParallelism } from 'node:os'
import {
  address,
  duration,
  either,
  exactly,
  flag,
  integer,
  item,
  list,
  port,
  publicPem,
  rate,
  secret,
  section,
  size,
  text,
} from './fields.ts'
import { convert, optional, renamed } from './node.ts'

export const defaultOpsPort = 9090

export const listen = section('The listener for clients.', {
  ...address(8080),
  workers: convert(
    either(exactly('auto'), integer({ minimum: 1, maximum: 256, description: 'A number of processes.' }), {
      default: 1,
      description: 'Processes that share the port; auto = one for each core.',
    }),
    (workers) => (workers === 'auto' ? availableParallelism() : workers),
  ),
  tls: optional(
    item('Serves HTTPS instead of HTTP; a reload reads the files again.', {
      cert: publicPem({
        description: 'Certificate (PEM), followed by any intermediate certificates.',
      }),
      key: secret({ description: 'Its private key (PEM), not encrypted.' }),
      clientCa: optional(
        publicPem({
          description:
            'CA certificates (PEM) for client certificates: for tokens that are bound to a certificate, and for certificates as keys. Clients are asked for a certificate, but may have none. Absent = they are not asked.',
        }),
      ),
    }),
  ),
  redirect: optional(
    item(
      'Redirects plain HTTP on another port of the same address to `publicUrl`: GET and HEAD with 308, other methods are refused. Needs `tls`; absent = none.',
      { port: port({ description: '0 = any free port.' }) },
    ),
  ),
  http2: flag(
    true,
    'Whether HTTP/2 is served too: with `tls` negotiated by ALPN, without it by prior knowledge (h2c).',
  ),
  requestTimeout: duration({
    min: '1s',
    max: '10m',
    default: '30s',
    description: 'The head of a request must arrive within this time.',
  }),
  keepAliveTimeout: duration({
    min: '1s',
    max: '1h',
    default: '72s',
    description: 'How long an idle client connection is kept open.',
  }),
})

export const ops = section('The listener for operators: /status /metrics /livez /readyz.', {
  ...address(defaultOpsPort),
  hosts: convert(
    list(text({ pattern: '^[A-Za-z0-9_.-]{1,253}$', description: 'A host name, without scheme and port.' }), {
      default: [],
      maxItems: 100,
      description:
        'Additional host names it accepts; addresses, localhost and names of services need not be listed.',
    }),
    (names) => names.map((name) => name.toLowerCase()),
  ),
})

export const decide = optional(
  item('The listener that other proxies ask whether to forward a request; absent = none.', address(8081)),
)

export const limits = section('Bounds on what clients send.', {
  headers: renamed(
    'headBytesMax',
    size({
      min: '1KiB',
      max: '1MiB',
      default: '16KiB',
      description: 'Largest request head: request line and header fields together.',
    }),
  ),
  sessions: renamed(
    'sessionsMax',
    integer({
      minimum: 1,
      maximum: 1_000_000_000,
      default: 100,
      description: 'Maximum number of sessions per account; the oldest is revoked when it is exceeded.',
    }),
  ),
  streams: renamed(
    'streamsMax',
    integer({
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description:
        'Maximum number of open requests on one HTTP/2 connection of a client; more wait. Should be less than `connections` of the upstreams.',
    }),
  ),
  bodyRate: renamed(
    'bodyRateMin',
    size({
      min: '1B',
      max: '1GiB',
      default: '500B',
      description: 'Minimum rate of a request body per second, averaged over 10 s; slower clients get 408.',
    }),
  ),
  failures: section(
    'Failed authentication attempts allowed per client address. Valid credentials are always accepted, except imported keys that this process has not seen yet, and tokens that need introspection.',
    rate({ min: '1s', max: '24h' }, { limit: 10, per: '1m' }),
  ),
})
