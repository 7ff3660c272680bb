import { parseOrigin } from '../addresses.ts'
import type { Review } from '../review.ts'

/** Reports a cookie that browsers would drop, as it breaks the rules of its name (RFC 6265bis 4.1.3). */
export function reviewCookie(review: Review): void {
  if (!review.hasValidShape(['cookie'])) return
  const isValid = (field: string) => review.isValid(['cookie', field])
  const { name, path, sameSite } = review.tree.cookie
  const mayBeSecure = isSecureOrUnknown(review)
  if (isValid('name') && /^__(host|secure)-/i.test(name) && !mayBeSecure) {
    review.report(['cookie', 'name'], `"${name}" needs secure: true, or an https publicUrl`)
  }
  if (isValid('name') && isValid('path') && /^__host-/i.test(name) && path !== '/') {
    review.report(['cookie', 'path'], `must be / for a name that begins with __Host-`)
  }
  if (isValid('sameSite') && sameSite === 'None' && !mayBeSecure) {
    review.report(['cookie', 'sameSite'], 'None needs secure: true, or an https publicUrl')
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
