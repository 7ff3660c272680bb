import { refreshTokenPath } from '#gateway/routes/own-operations.ts'
import type { Warning } from '../problem.ts'
import { isAtOrBelow } from '../rules/browsers.ts'
import type { ConfigTree } from '../schema/schema.ts'

/**
 * An access cookie that another host of the domain, or plain HTTP, can set, so that a person is signed in as somebody
 * else (cookie tossing). Name prefixes rule that out (RFC 6265bis 4.1.3), but need https.
 */
export function findTossableCookie({
  accessCookie,
  publicUrl,
}: Pick<ConfigTree, 'accessCookie' | 'publicUrl'>): Warning[] {
  const { enabled, name, path } = accessCookie
  const isHttps = URL.parse(publicUrl)?.protocol === 'https:'
  if (!enabled || !isHttps || /^__host-/i.test(name)) return []
  if (path !== '/' && /^__secure-/i.test(name)) return []
  const setter = 'other hosts of the domain can set a cookie of this name'
  const better =
    path === '/'
      ? `"__Host-${name.replace(/^__secure-/i, '')}" rules that out`
      : `"__Secure-${name}" at least prevents that over plain HTTP`
  return [{ path: ['accessCookie', 'name'], message: setter, hint: better }]
}

/**
 * A refresh cookie that browsers send to `refresh-token` only through a proxy that mounts the gateway below a prefix.
 */
export function findUnsentCookie({ cookie: { path } }: Pick<ConfigTree, 'cookie'>): Warning[] {
  if (isAtOrBelow(refreshTokenPath, path)) return []
  const message = `is not at or above ${refreshTokenPath}: browsers do not send the cookie there, unless a proxy in front adds a prefix`
  return [{ path: ['cookie', 'path'], message }]
}
