import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

/**
 * An access cookie that another host of the domain can set, or plain HTTP, so that a person is signed in as somebody
 * else (cookie tossing). Names with a prefix rule that out (RFC 6265bis 4.1.3); they need https.
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
      : `"__Secure-${name}" at least keeps plain HTTP from it`
  return [{ path: ['accessCookie', 'name'], message: `${setter}: ${better}` }]
}
