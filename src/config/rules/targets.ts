import { isIP } from 'node:net'
import { isPlainPath } from '#gateway/forward/stripped-prefix.ts'
import { hostProblem } from '../hosts.ts'
import type { Review } from '../review.ts'
import { unixPrefix } from '../schema/upstream.ts'
import { reviewTlsPair } from './certificates.ts'

const example = 'http://10.0.0.11:3000'
/** The maximum on Linux, including the zero byte at its end. */
const socketPathBytesMax = 107

/** What keeps a text from being the URL of a target; undefined if it is one. */
export function targetProblem(text: string): string | undefined {
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

/** What keeps a text from being an http(s) origin, such as the example; undefined if it is one. */
export function originProblem(text: string, example: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    return `must be a URL such as ${example}`
  }
  // URL takes braces and the like for a name.
  if (!/^(?:\[[\da-f:.]+\]|[\w.-]+)$/i.test(url.hostname)) {
    return `must have a host name: letters, digits, -, _ and dots, as in ${example}`
  }
  if (url.username || url.password) return 'must not contain credentials'
  if (url.pathname !== '/' || url.search || url.hash) return 'must be an origin: no path, query or fragment'
  return undefined
}

/** Checks the name that certificates of targets must have, and the certificate that the gateway shows them. */
export function reviewTargetTls(review: Review, name: string): void {
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
