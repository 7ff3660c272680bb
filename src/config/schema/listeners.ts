import { availableParallelism } from 'node:os'
import { normalizeHost, parseAddressRange } from '#platform/addresses.ts'
import { hostProblem, originProblem } from '../hosts.ts'
import type { Path } from '../problem.ts'
import { reviewCertificates, reviewTlsPair } from './certificates.ts'
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
  secret,
  section,
  text,
} from './fields.ts'
import { convert, optional, type ValueOf } from './node.ts'
import type { Review } from './review.ts'

const defaultOpsPort = 9090

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

/** What the rules about listeners read. */
interface ListenersTree {
  readonly publicUrl: string
  readonly trustedProxies: readonly string[]
  readonly listen: ValueOf<typeof listen>
  readonly ops: ValueOf<typeof ops>
  readonly decide?: ValueOf<typeof decide>
}

/** Checks that each listener has a host that it can listen on. */
export function reviewHosts(review: Review<ListenersTree>): void {
  for (const section of ['listen', 'ops', 'decide'] as const) {
    const at = [section, 'host']
    review.check(at, () => {
      const host = review.tree[section]?.host
      return host === undefined ? undefined : hostProblem(host)
    })
  }
}

/** Checks that plain HTTP is redirected to https. */
export function reviewRedirect(review: Review<ListenersTree>): void {
  const at = ['listen', 'redirect']
  if (!review.hasValidShape(['listen']) || !review.isValid(at)) return
  const { tls, redirect } = review.tree.listen
  if (redirect && !tls)
    review.report(at, 'needs listen.tls: without it listen.port itself speaks plain HTTP', 'key')
}

/** Checks that each listener has an address of its own, as two listeners cannot share a port. */
export function reviewPorts(review: Review<ListenersTree>): void {
  const listeners = listenersOf(review)
  for (const [index, own] of listeners.entries()) {
    for (const other of listeners.slice(0, index)) {
      if (own.port === 0 || own.port !== other.port || !overlap(own.host, other.host)) continue
      // Of listen and ops, the option that differs from its default is reported.
      const [reported, named] =
        own.path[0] === 'ops' && own.port === defaultOpsPort ? [other, own] : [own, other]
      review.report(
        [...reported.path, 'port'],
        `conflicts with ${named.path.join('.')}.port on the same address: choose another port`,
      )
    }
  }
}

interface Listener {
  readonly path: Path
  readonly host: string
  readonly port: number
}

/** Those whose options are valid. */
function listenersOf({ tree, isValid }: Review<ListenersTree>): readonly Listener[] {
  const { ops, decide } = tree
  const hasAddress = (section: string) => isValid([section, 'host']) && isValid([section, 'port'])
  const listen = hasAddress('listen') ? tree.listen : undefined
  const redirect = isValid(['listen', 'redirect']) ? listen?.redirect : undefined
  return [
    ...(listen ? [{ ...listen, path: ['listen'] }] : []),
    ...(hasAddress('ops') ? [{ ...ops, path: ['ops'] }] : []),
    ...(decide && hasAddress('decide') ? [{ ...decide, path: ['decide'] }] : []),
    ...(listen && redirect ? [{ host: listen.host, port: redirect.port, path: ['listen', 'redirect'] }] : []),
  ]
}

/** Whether two hosts are the same address, or one of them is the wildcard. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [normalizeHost(one), normalizeHost(other)]
  if (a === b || a === '::' || b === '::') return true
  return (a === '0.0.0.0' && !b.includes(':')) || (b === '0.0.0.0' && !a.includes(':'))
}

/** Checks that the certificate of the listener can be used. */
export function reviewListen(review: Review<ListenersTree>): void {
  const path = ['listen', 'tls']
  if (!review.hasValidShape(path)) return
  const { tls } = review.tree.listen
  if (!tls) return
  reviewTlsPair(review, path, tls)
  reviewCertificates(review, [...path, 'clientCa'], tls.clientCa)
}

/** Checks that publicUrl is an origin, and that trusted proxies are addresses or ranges. */
export function reviewNetwork(review: Review<ListenersTree>): void {
  review.check(['publicUrl'], () => originProblem(review.tree.publicUrl, 'https://api.example.com'))
  if (!review.hasValidShape(['trustedProxies'])) return
  for (const [index, range] of review.tree.trustedProxies.entries()) {
    review.check(['trustedProxies', index], () =>
      parseAddressRange(range)
        ? undefined
        : 'must be an address such as 10.0.0.1, or a range such as 10.0.0.0/8',
    )
  }
}
