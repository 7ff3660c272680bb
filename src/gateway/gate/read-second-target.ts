import { encodeHighBytes } from '#http/server/request-line.ts'
import { decodeBytes } from '#platform/text.ts'
import type { Client } from '../arrival/client.ts'
import type { SecondTargetForm } from '../arrival/second-target-fields.ts'
import { isBelow } from '../forward/stripped-prefix.ts'
import { normalizedHost } from '../routes/hosts.ts'
import { mergedPath, type RequestTarget, readRequestTarget } from '../routes/request-target.ts'
import type { Route } from '../routes/route.ts'
import type { Destination } from '../routes/table.ts'

export interface SecondTarget {
  /** Parsed like the target of a request. */
  readonly target: RequestTarget
  /**
   * @param forwarded path and query of the target as its route forwards them
   * @returns the value for the backend; undefined = no value can express it
   */
  write(forwarded: string): string | undefined
  /** Whether that value is a URL or a path of the whole host, as in WebDAV, rather than a path below some root. */
  readonly isOfHost: boolean
}

interface SecondTargetContext {
  readonly client: Client
  /** The origin of `publicUrl`. */
  readonly publicOrigin: string
  /** The route of the request itself. */
  readonly route: Pick<Route<unknown>, 'rewrite' | 'prefix'>
  /** The path of the request itself, as its backend gets it. */
  readonly backendPath: string
  readonly method: string
  /** The Swift account of the target; undefined = that of the request. */
  readonly account: string | undefined
}

/** Reads the value of a field that names a second target. @returns what is wrong with it, as text */
export function readSecondTarget(
  form: Exclude<SecondTargetForm, 'account'>,
  sent: string,
  context: SecondTargetContext,
): SecondTarget | string {
  const value = encodeHighBytes(sent)
  const { account } = context
  if (account !== undefined && !/^[^/?#]+$/.test(account)) return 'has an account that is not a plain name'
  if (form === 'swift' || isCopyOfSwift(form, value, context)) {
    const root = swiftRoot(context)
    // Without its slash, so that WebDAV cannot take it for a path of the host.
    const path = form === 'destination' ? value.replace(/^\//, '') : value
    if (root !== undefined) return readObject(path, root, context)
    if (account !== undefined) return 'is in another account, and the path of the request is in none'
  }
  if (form === 'destination' || form === 'url') return readUrl(value, context)
  return isResourceName(value) ? 'is not a path' : readObject(value, '', context)
}

/** Whether it is an ARN, in any encoding: another name for a bucket, which no path can be derived from. */
function isResourceName(value: string): boolean {
  const start = value.slice(0, '/arn:'.length * '%xx'.length)
  return /^\/?arn:/i.test(decodeBytes(start))
}

// RFC 4918 8.3: an absolute URI or a path. No userinfo, as in a request target (RFC 9110 4.2.4).
const absoluteForm = /^(https?:)\/\/([^/?#\\@]+)(?=[/?]|$)/i

function readUrl(sent: string, context: SecondTargetContext): SecondTarget | string {
  const [origin, scheme = '', authority = ''] = absoluteForm.exec(sent) ?? []
  if (origin === undefined && !sent.startsWith('/')) return 'is not a URL or path'
  if (origin !== undefined && !isOwnOrigin(scheme, authority, context)) return 'is on another host'
  const rest = origin === undefined ? sent : sent.slice(origin.length)
  const target = readRequestTarget(rest.startsWith('/') ? rest : `/${rest}`)
  if (typeof target === 'string') return 'is ambiguous'
  return { target, write: (forwarded) => (origin ?? '') + forwarded, isOfHost: true }
}

/**
 * Whether an origin is the one that the client called. A proxy may not report the scheme, so that of `publicUrl` counts
 * too.
 */
function isOwnOrigin(
  scheme: string,
  authority: string,
  { client, publicOrigin }: Pick<SecondTargetContext, 'client' | 'publicOrigin'>,
): boolean {
  const publicScheme = publicOrigin.slice(0, publicOrigin.indexOf('//'))
  const lower = scheme.toLowerCase()
  return (
    (lower === `${client.protocol}:` || lower === publicScheme) &&
    normalizedHost(lower, authority) === normalizedHost(lower, client.host)
  )
}

/**
 * A path below the backend's own root, with or without a leading slash. The prefix that the route replaces in requests
 * is put before it, unless the client has done so.
 * @param root what precedes such paths at the backend: nothing, or an account of Swift
 */
function readObject(
  sent: string,
  root: string,
  { route }: Pick<SecondTargetContext, 'route'>,
): SecondTarget | string {
  const slash = sent.startsWith('/') ? '' : '/'
  const path = slash + withSlashes(sent)
  if (path === '/') return 'is empty'
  const isWhole = root === '' && isBelow(path, route.prefix)
  const target = readRequestTarget(isWhole ? path : clientPath(root + path, route))
  if (typeof target === 'string') return 'is ambiguous'
  return {
    target,
    write: (forwarded) => {
      // Unchanged, as a signature may cover it.
      if (forwarded === root + path) return sent
      return forwarded.startsWith(`${root}/`) ? forwarded.slice(root.length + slash.length) : undefined
    },
    isOfHost: false,
  }
}

/** A path of the backend as a client would have to send it. */
function clientPath(path: string, { rewrite, prefix }: SecondTargetContext['route']): string {
  return rewrite !== undefined && isBelow(path, rewrite) ? prefix + path.slice(rewrite.length) : path
}

/**
 * The hosts that an S3 bucket may have, beside or below that of the request, with its name as their first label.
 * @param path of the bucket and an object in it, for the backend
 */
export function bucketHosts(path: string, hostName: string): readonly Destination[] {
  const whole = readRequestTarget(path)
  if (typeof whole === 'string') return []
  const [, bucket = '', rest = '/'] = /^\/([^/?]+)(\/.*)?/.exec(mergedPath(whole)) ?? []
  const target = readRequestTarget(rest)
  if (bucket === '' || typeof target === 'string') return []
  const domains = [hostName, hostName.slice(hostName.indexOf('.') + 1)]
  return domains.map((domain) => ({ target, hostName: `${bucket.toLowerCase()}.${domain}` }))
}

/** Stores decode such a value before they look for slashes, as many clients encode all of it. */
function withSlashes(sent: string): string {
  const mark = sent.indexOf('?')
  const end = mark === -1 ? sent.length : mark
  return sent.slice(0, end).replaceAll(/%2f/gi, '/') + sent.slice(end)
}

/** `/v1/AUTH_shop`; of Ceph also `/swift/v1`, with or without an account. */
const swiftAccount = /^(\/(?:swift\/)?v1(?:\.0)?)(\/[^/?]+)(?=\/)/
const cephRoot = /^\/swift\/v1(?=\/)(?!\/(?:AUTH|KEY)_)/

/** The path above the containers of the request's Swift account; undefined = its path is not one of Swift. */
function swiftRoot({ backendPath, account }: SecondTargetContext): string | undefined {
  const ceph = account === undefined ? cephRoot.exec(backendPath)?.[0] : undefined
  if (ceph !== undefined) return ceph
  const [, version, own] = swiftAccount.exec(backendPath) ?? []
  return version === undefined ? undefined : version + (account === undefined ? own : `/${account}`)
}

/**
 * Whether a Destination is read as in Swift: below the account, like X-Copy-From. In WebDAV it is a URL or a path of
 * the host.
 */
function isCopyOfSwift(form: SecondTargetForm, value: string, context: SecondTargetContext): boolean {
  return form === 'destination' && context.method === 'COPY' && !/^(?:https?:|\/(?:swift\/)?v1)/i.test(value)
}
