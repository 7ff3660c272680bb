import { parseOrigin } from '../addresses.ts'
import type { Path } from '../problem.ts'
import type { Review } from '../review.ts'

/** Names of the portal's own cookies begin with this, after a prefix. */
const portalNames = /^(?:__secure-|__host-)?gatehouse-/i

/** Reports a cookie that browsers would drop, as it breaks the rules of its name (RFC 6265bis 4.1.3). */
export function reviewCookie(review: Review): void {
  if (!review.hasValidShape(['cookie'])) return
  const { cookie } = review.tree
  reviewCookieName(review, ['cookie'], cookie)
  const isValid = review.isValid(['cookie', 'sameSite'])
  if (isValid && cookie.sameSite === 'None' && !isSecureOrUnknown(review)) {
    review.report(['cookie', 'sameSite'], 'None needs secure: true, or an https publicUrl')
  }
}

/** Whether a browser sends a cookie of this path to a path (RFC 6265bis 5.1.4), whatever follows in it. */
export function isAtOrBelow(path: string, cookiePath: string): boolean {
  if (cookiePath.endsWith('/')) return `${path}/`.startsWith(cookiePath)
  return `${path}/`.startsWith(`${cookiePath}/`)
}

/** Reports a name that the portal may use, or with a prefix whose rules the cookie of a section does not meet. */
export function reviewCookieName(
  review: Review,
  section: Path,
  { name, path }: { readonly name: string; readonly path: string },
): void {
  const isValid = (field: string) => review.isValid([...section, field])
  if (isValid('name') && portalNames.test(name)) {
    review.report([...section, 'name'], `"${name}" could be a cookie of the portal: choose another name`)
  }
  if (isValid('name') && /^__(host|secure)-/i.test(name) && !isSecureOrUnknown(review)) {
    const secure = section[0] === 'cookie' ? 'secure: true' : 'cookie.secure: true'
    review.report([...section, 'name'], `"${name}" needs ${secure}, or an https publicUrl`)
  }
  if (isValid('name') && isValid('path') && /^__host-/i.test(name) && path !== '/') {
    review.report([...section, 'path'], `must be / for a name that begins with __Host-`)
  }
}

/** Whether the cookie is Secure, or may be, because the option that decides it is wrong itself. */
function isSecureOrUnknown({ tree, isValid }: Review): boolean {
  if (!isValid(['cookie', 'secure'])) return true
  const { secure } = tree.cookie
  if (secure !== 'auto') return secure
  return !isValid(['publicUrl']) || URL.parse(tree.publicUrl)?.protocol === 'https:'
}

/** Origins are exact: only pages whose origin is listed may call. */
export function reviewCors(review: Review): void {
  if (!review.hasValidShape(['cors', 'origins'])) return
  const seen = new Set<string>()
  for (const [index, text] of review.tree.cors.origins.entries()) {
    const path = ['cors', 'origins', index]
    if (!review.isValid(path)) continue
    const origin = parseOrigin(text)
    if (origin === undefined) review.report(path, corsOriginProblem(text))
    else if (seen.has(origin)) review.report(path, `${origin} is already in the list`)
    else seen.add(origin)
  }
}

function corsOriginProblem(text: string): string {
  const form = 'an origin such as https://app.example.com'
  if (text.includes('*')) {
    return `must be ${form}, without *: pages send credentials, so each origin must be listed`
  }
  if (text.toLowerCase() === 'null') return `must be ${form}: any page can send the origin null`
  return `must be ${form}: a scheme, a host, a port where it has one, and no path`
}
