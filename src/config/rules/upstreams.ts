import { isIP } from 'node:net'
import { isPlainPath } from '#gateway/forward/stripped-prefix.ts'
import { readTargetAddress } from '#http/outgoing/target-address.ts'
import { isCredentialField } from '#platform/secrets/hide-secrets.ts'
import { hostProblem, originProblem } from '../hosts.ts'
import type { Warning } from '../problem.ts'
import { reviewCertificates, reviewTlsPair } from '../schema/certificates.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'
import { unixPrefix } from '../schema/upstream.ts'

/** Checks where targets are, that certificates can be read, and what health checks ask. */
export function reviewUpstreams(review: ConfigReview): void {
  const upstreams = review.hasValidShape(['upstreams']) ? review.tree.upstreams : {}
  for (const [name, { targets, tls }] of Object.entries(upstreams).filter(([name]) =>
    isShapedUpstream(review, name),
  )) {
    for (const [index, target] of targets.entries()) {
      review.check(['upstreams', name, 'targets', index, 'url'], () => targetProblem(target.url))
    }
    reviewChecks(review, name)
    reviewCertificates(review, ['upstreams', name, 'tls', 'ca'], tls.ca)
    reviewTargetTls(review, name)
  }
}

function reviewChecks(review: ConfigReview, name: string): void {
  const path = ['upstreams', name, 'health', 'active']
  if (!review.isValid(path) || !review.isValid(['upstreams', name, 'protocol'])) return
  const { health, protocol } = review.tree.upstreams[name] ?? {}
  const active = health?.active
  if (!active) return
  if (!active.path && !active.grpc) review.report([...path, 'path'], 'is missing: set path or grpc')
  if (active.path && active.grpc) review.report([...path, 'path'], 'cannot be combined with grpc')
  if (active.grpc && protocol !== 'http2') review.report([...path, 'grpc'], 'needs protocol: http2')
}

function isShapedUpstream(review: ConfigReview, name: string): boolean {
  return (
    review.hasValidShape(['upstreams', name, 'targets']) && review.hasValidShape(['upstreams', name, 'tls'])
  )
}

const example = 'http://10.0.0.11:3000'
/** The maximum on Linux, including the zero byte at its end. */
const socketPathBytesMax = 107

/** What keeps a text from being the URL of a target; undefined if it is one. */
function targetProblem(text: string): string | undefined {
  if (text.startsWith(unixPrefix)) return socketProblem(text.slice(unixPrefix.length))
  const [, origin = text, path = ''] = /^(https?:\/\/[^/?#\\]*)((?:[/\\][^?#]*)?)$/i.exec(text) ?? []
  if (origin === text && /[?#]/.test(text)) return 'must have no query or fragment'
  return originProblem(origin, example) ?? basePathProblem(path)
}

function basePathProblem(path: string): string | undefined {
  if (path === '' || path === '/') return undefined
  if (/(?:\/|\\)(?:\.|%2e){1,2}(?:[/\\;]|$)/i.test(path))
    return 'must have no dot segment (. or ..) in its base path'
  if (isPlainPath(path.replace(/\/$/, '')) && !path.endsWith('//')) return undefined
  return `must have a base path without empty segments, backslashes, parameters or encoded slashes, in ASCII, as in ${example}/base`
}

function socketProblem(path: string): string | undefined {
  if (path === '' || path.endsWith('/') || path.startsWith('//') || /[?#\0]/.test(path))
    return 'must have the path of a socket after unix:, as in unix:/run/app.sock'
  if (Buffer.byteLength(path) > socketPathBytesMax)
    return `must have a path of at most ${socketPathBytesMax} bytes, as sockets have`
  return undefined
}

/** Checks the name that certificates of targets must have, and the certificate that the gateway shows them. */
function reviewTargetTls(review: ConfigReview, name: string): void {
  const path = ['upstreams', name, 'tls']
  if (!review.isValid(path)) return
  const { cert, key, serverName } = review.tree.upstreams[name]?.tls ?? {}
  const nameProblem = serverName === undefined ? undefined : serverNameProblem(serverName)
  if (nameProblem !== undefined) review.report([...path, 'serverName'], nameProblem)
  if (cert && key) reviewTlsPair(review, path, { cert, key })
  else if (cert) review.report([...path, 'cert'], 'needs its key: set tls.key too')
  else if (key) review.report([...path, 'key'], 'needs its certificate: set tls.cert too')
}

/** A server name is a name, never an address (RFC 6066 3). */
function serverNameProblem(name: string): string | undefined {
  if (isIP(name) === 0 && !name.startsWith('[')) return hostProblem(name)
  return 'must be a host name: a certificate for an address is found by the address in url'
}

export function findUnverifiedUpstreams({ upstreams }: ConfigTree): Warning[] {
  return Object.entries(upstreams)
    .filter(
      ([, { tls, targets }]) =>
        !tls.verify && targets.some(({ url }) => URL.parse(url)?.protocol === 'https:'),
    )
    .map(([name]) => ({
      path: ['upstreams', name, 'tls', 'verify'],
      message: "the backend's certificate is not verified",
      hint: 'set its CA as tls.ca instead',
    }))
}

/** Nothing is spoken with TLS where no target is https. */
export function findUnusedTls({ upstreams }: ConfigTree): Warning[] {
  return Object.entries(upstreams)
    .filter(([, { targets }]) => !targets.some(({ url }) => URL.parse(url)?.protocol === 'https:'))
    .flatMap(([name, { tls }]) =>
      (['serverName', 'cert'] as const)
        .filter((option) => tls[option] !== undefined)
        .map((option) => ({
          path: ['upstreams', name, 'tls', option],
          message: 'has no effect: no target of this upstream is https',
          hint: 'use https:// in the url of its targets',
        })),
    )
}

/** Only host names have addresses that change. */
export function findUnresolvedTargets({ upstreams }: ConfigTree): Warning[] {
  return Object.entries(upstreams)
    .filter(([, { resolve, targets }]) => resolve === 'all' && !targets.some(({ url }) => hasHostName(url)))
    .map(([name]) => ({
      path: ['upstreams', name, 'resolve'],
      message: 'has no effect: no target of this upstream has a host name',
      hint: 'use host names in the url of its targets',
    }))
}

function hasHostName(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && readTargetAddress(url).serverName !== undefined
}

/** A text can be read by anybody who can read the file. */
export function findInlineCredentials({ upstreams }: ConfigTree): Warning[] {
  return Object.entries(upstreams).flatMap(([name, { headers }]) =>
    Object.entries(headers.set)
      .filter(([field, value]) => typeof value === 'string' && isCredentialField(field, value))
      .map(([field]) => ({
        path: ['upstreams', name, 'headers', 'set', field],
        message: 'looks like a credential, and everyone who reads the config can see it',
        hint: 'use { file: … }, { env: … } or { credential: … }',
      })),
  )
}

/** Upstreams with fewer `connections` than the requests that a client may have open on one HTTP/2 connection. */
export function findNarrowUpstreams({ limits, listen, upstreams }: ConfigTree): Warning[] {
  if (!listen.http2) return []
  return Object.entries(upstreams)
    .filter(([, { connections }]) => limits.streams >= connections)
    .map(([name, { connections }]) => ({
      path: ['upstreams', name, 'connections'],
      message: `one client connection of HTTP/2 may have ${limits.streams} requests open (limits.streams), and this upstream takes ${connections} at a time: the others wait, and may get 503`,
      hint: 'set limits.streams below connections',
    }))
}
