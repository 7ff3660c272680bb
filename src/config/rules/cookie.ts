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
