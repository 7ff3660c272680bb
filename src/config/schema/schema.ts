import {
  choice,
  duration,
  either,
  exactly,
  flag,
  integer,
  item,
  list,
  named,
  optional,
  port,
  secret,
  section,
  size,
  text,
  type ValueOf,
} from './fields.ts'
import { identity } from './identity.ts'
import { issuers } from './issuers.ts'
import { keys } from './keys.ts'
import { plans } from './plans.ts'
import { mail, portal } from './portal.ts'
import { route } from './route.ts'
import { store } from './store.ts'
import { accessCookie, cookie, tokens } from './tokens.ts'
import { tracing } from './tracing.ts'
import { upstream } from './upstream.ts'

export const defaultOpsPort = 9090
export const defaultDecidePort = 8081

/**
 * Every option of the config file: its type, default, bounds and meaning. The validator, the JSON Schema
 * of `config schema`, the reference in docs/ and the check of the annotated example are all generated from it.
 */
export const configSchema = {
  title: 'Gatehouse config',
  ...item('The whole config.', {
    version: choice([1], { default: 1, description: 'Version of this format.' }),
    publicUrl: text({
      default: 'http://localhost:8080',
      description:
        'Origin that clients use: for portal links, the default issuer, and whether the cookie is Secure.',
    }),
    listen: section('The listener for clients.', {
      host: text({ default: '127.0.0.1', description: 'Address to listen on, or a host name that has it.' }),
      port: port({ default: 8080, description: '0 = any free port.' }),
      workers: either(
        exactly('auto'),
        integer({ minimum: 1, maximum: 256, description: 'A number of processes.' }),
        { default: 1, description: 'Processes that share the port; auto = one for each core.' },
      ),
      tls: optional(
        item('Serves HTTPS instead of HTTP; a reload reads the files again.', {
          cert: secret({
            description: 'Certificate (PEM), followed by any intermediate certificates.',
          }),
          key: secret({ description: 'Its private key (PEM), not encrypted.' }),
        }),
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
    }),
    ops: section('The listener for operators: /status /metrics /livez /readyz.', {
      host: text({ default: '127.0.0.1', description: 'Address to listen on, or a host name that has it.' }),
      port: port({ default: defaultOpsPort, description: '0 = any free port.' }),
      hosts: list(
        text({ pattern: '^[A-Za-z0-9_.-]{1,253}$', description: 'A host name, without scheme and port.' }),
        {
          default: [],
          maxItems: 100,
          description:
            'Additional host names it accepts; addresses, localhost and names of services need not be listed.',
        },
      ),
    }),
    decide: optional(
      item('The listener that other proxies ask whether to forward a request; absent = none.', {
        host: text({
          default: '127.0.0.1',
          description: 'Address to listen on, or a host name that has it.',
        }),
        port: port({ default: defaultDecidePort, description: '0 = any free port.' }),
      }),
    ),
    portal,
    mail,
    trustedProxies: list(text({ description: 'An address or a CIDR range.' }), {
      default: [],
      description: 'Proxies in front of the gateway whose X-Forwarded-* and X-Request-Id are trusted.',
    }),
    upstreams: named(upstream, {
      description: 'The backends, by name.',
    }),
    routes: list(route, { description: 'The routes; their order does not matter.' }),
    identity,
    tokens,
    issuers,
    plans,
    cookie,
    accessCookie,
    cors: section('Which web pages from other origins may call the gateway from a browser.', {
      origins: list(
        text({ description: 'An origin, exactly: scheme://host, with a port where it has one.' }),
        {
          default: [],
          maxItems: 1_000,
          description:
            'Allowed origins; an empty list leaves CORS to the upstreams, whose CORS headers are forwarded unchanged.',
        },
      ),
    }),
    keys,
    store,
    cache: section('In-memory cache of accounts and sessions.', {
      entries: integer({
        minimum: 1,
        maximum: 10_000_000,
        default: 100_000,
        description: 'Maximum number of cached accounts, and of cached sessions.',
      }),
      ttl: duration({
        min: '0s',
        max: '24h',
        default: '60s',
        description: 'How long an entry is used before it is looked up again, in the background.',
      }),
      negativeTtl: duration({
        min: '0s',
        max: '1h',
        default: '5s',
        description: 'How long a missing account is cached.',
      }),
      maxStale: duration({
        min: '0s',
        max: '24h',
        default: '10m',
        description: 'How long known accounts are still served while the store is unavailable.',
      }),
    }),
    limits: section('Bounds on what clients send.', {
      headers: size({
        min: '1KiB',
        max: '1MiB',
        default: '16KiB',
        description: 'Largest request head: request line and header fields together.',
      }),
      sessions: integer({
        minimum: 1,
        maximum: 1_000_000_000,
        default: 100,
        description: 'Maximum number of sessions per account; the oldest is revoked when it is exceeded.',
      }),
      streams: integer({
        minimum: 1,
        maximum: 10_000,
        default: 100,
        description:
          'How many requests a client may have open on one connection of HTTP/2; more wait. Less than `connections` of the upstreams.',
      }),
      bodyRate: size({
        min: '1B',
        max: '1GiB',
        default: '500B',
        description: 'Minimum rate of a request body per second, averaged over 10 s; slower clients get 408.',
      }),
      failures: section(
        'Failed authentication attempts allowed per client address. Valid credentials are always accepted, but for imported keys that this process has not seen yet.',
        {
          limit: integer({
            minimum: 1,
            maximum: 1_000_000_000,
            default: 10,
            description: 'Burst size: how many at once.',
          }),
          per: duration({
            min: '1s',
            max: '24h',
            default: '1m',
            description: 'Time in which a spent limit refills, at a steady rate.',
          }),
        },
      ),
    }),
    log: section('What is written to standard output.', {
      level: choice(['debug', 'info', 'warn', 'error', 'silent'], {
        default: 'info',
        description: 'The lowest level written.',
      }),
      format: choice(['auto', 'json', 'pretty'], {
        default: 'auto',
        description:
          'json: one JSON object per line. pretty: text for people, in colours where the terminal has them. auto: pretty where standard output is a terminal, else json.',
      }),
      access: flag(true, 'Whether every request gets a line.'),
    }),
    tracing,
    shutdown: section('What happens at SIGTERM.', {
      delay: duration({
        min: '0s',
        max: '10m',
        default: '0s',
        description: 'How long requests are still served as before while /readyz already answers 503.',
      }),
      drain: duration({
        min: '0s',
        max: '1h',
        default: '20s',
        description: 'How long requests in flight and idle connections may then take to finish.',
      }),
    }),
  }),
}

/** The config as written, with every default filled in. */
export type ConfigTree = ValueOf<typeof configSchema>
