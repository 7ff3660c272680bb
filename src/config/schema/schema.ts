import { certificateFields } from '#gateway/arrival/client-certificate-reader.ts'
import { parseAddressRange } from '#platform/addresses.ts'
import type { Path } from '../problem.ts'
import { durationPattern, sizePattern } from '../units.ts'
import { accessCookie } from './access-cookie.ts'
import { identity, keys, plans } from './accounts.ts'
import { cookie, cors } from './browsers.ts'
import { events } from './events.ts'
import { choice, duration, flag, integer, item, list, named, rate, section, size, text } from './fields.ts'
import { issuers } from './issuers.ts'
import { decide, listen, ops } from './listeners.ts'
import { convert, convertResolved, renamed, type SchemaNode, type ValueOf } from './node.ts'
import { mail, portal } from './portal.ts'
import type { Review } from './review.ts'
import { route } from './route.ts'
import { securityTxt } from './security-txt.ts'
import { cache, store } from './store.ts'
import { dpop, tokens } from './tokens.ts'
import { tracing } from './tracing.ts'
import { upstream } from './upstream.ts'

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

/**
 * Every option of the config file: its type, default, bounds and meaning. The validator, the JSON Schema of `config
 * schema`, the reference in docs/ and the check of the annotated example are all generated from it.
 */
const config = item('The whole config.', {
  version: choice([1], { default: 1, description: 'Version of this format.' }),
  publicUrl: renamed(
    'publicOrigin',
    convert(
      text({
        default: 'http://localhost:8080',
        description:
          'Origin that clients use: for portal links, the default issuer, and whether the cookie is Secure.',
      }),
      (url) => new URL(url).origin,
    ),
  ),
  listen,
  ops,
  decide,
  portal,
  mail,
  securityTxt,
  trustedProxies: convert(
    list(text({ description: 'An address or a CIDR range.' }), {
      default: [],
      description: 'Proxies in front of the gateway whose X-Forwarded-* and X-Request-Id are trusted.',
    }),
    (ranges) => ranges.flatMap((range) => parseAddressRange(range) ?? []),
  ),
  clientCertificateHeader: choice(certificateFields, {
    default: 'none',
    description:
      'Field in which trusted proxies pass on the certificate of their client: Client-Cert (RFC 9440), or X-Forwarded-Client-Cert of Envoy. The proxy must drop what clients send in it.',
  }),
  upstreams: convertResolved(
    named(upstream, {
      description: 'The backends, by name.',
    }),
    (byName) => Object.entries(byName).map(([name, options]) => ({ name, ...options })),
  ),
  routes: list(route, { description: 'The routes; their order does not matter.' }),
  identity,
  tokens,
  dpop,
  issuers,
  plans,
  cookie,
  accessCookie,
  cors,
  keys,
  events,
  store,
  cache,
  limits,
  log: section('What is written to standard output.', {
    level: choice(['debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
      description: 'The lowest level written.',
    }),
    format: choice(['auto', 'json', 'pretty'], {
      default: 'auto',
      description:
        'json: one JSON object per line. pretty: text for people, in colours if the terminal has them. auto: pretty if standard output is a terminal, else json.',
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
})

export const configSchema: typeof config = { title: 'Gatehouse config', ...config }

/** The config as written, with every default filled in. */
export type ConfigTree = ValueOf<typeof configSchema>

/** The review of a whole config, for rules that span sections. */
export type ConfigReview = Review<ConfigTree>

/** The schema of the option at a path; undefined if there is none. */
export function schemaAt(path: Path): SchemaNode | undefined {
  let node: SchemaNode | undefined = configSchema
  for (const part of path) {
    if (node === undefined) return undefined
    node = childSchema(node, part)
  }
  return node
}

/** The schema of one member of a map or list. */
export function childSchema(node: SchemaNode, part: string | number): SchemaNode | undefined {
  if (node.anyOf) {
    return node.anyOf.map((option) => childSchema(option, part)).find((child) => child !== undefined)
  }
  if (node.items && (typeof part === 'number' || !node.properties)) return node.items
  // Own properties only, as a misspelt option may have the name of a member of every object.
  if (node.properties && Object.hasOwn(node.properties, part)) return node.properties[part]
  return node.patternProperties && Object.values(node.patternProperties)[0]
}

/** Whether an option is, or may be, a list. */
export function isList(node: SchemaNode | undefined): boolean {
  return node?.items !== undefined || node?.anyOf?.some(isList) === true
}

/** The schema for editors, in JSON Schema 2020-12 without our custom keywords. */
export function publishedSchema(): object {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...publish(configSchema) }
}

function publish(node: SchemaNode & { readonly optional?: boolean }): SchemaNode {
  const { duration, size, secret: _, isPublic: __, optional: ___, ...plain } = node
  return {
    ...plain,
    ...(duration && { pattern: durationPattern }),
    ...(size && { pattern: size.alternative ? `${sizePattern}|^${size.alternative}$` : sizePattern }),
    ...(node.properties && { properties: publishAll(node.properties) }),
    ...(node.patternProperties && { patternProperties: publishAll(node.patternProperties) }),
    ...(node.items && { items: publish(node.items) }),
    ...(node.anyOf && { anyOf: node.anyOf.map(publish) }),
  }
}

function publishAll(nodes: Readonly<Record<string, SchemaNode>>): Readonly<Record<string, SchemaNode>> {
  return Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, publish(node)]))
}
