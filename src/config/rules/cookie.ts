import type { Review } from '../review.ts'

/** Reports a cookie that browsers would drop, as it breaks the rules of its name (RFC 6265bis 4.1.3). */
export function reviewCookie(review: Review): void {
  if (!review.isShaped(['cookie'])) return
  const isSound = (field: string) => review.isSound(['cookie', field])
  const { name, path, sameSite } = review.tree.cookie
  const mayBeSecure = isSecureOrUnsound(review)
  if (isSound('name') && /^__(host|secure)-/i.test(name) && !mayBeSecure) {
    review.report(['cookie', 'name'], `"${name}" needs secure: true, or an https publicUrl`)
  }
  if (isSound('name') && isSound('path') && /^__host-/i.test(name) && path !== '/') {
    review.report(['cookie', 'path'], `must be / for a name that begins with __Host-`)
  }
  if (isSound('sameSite') && sameSite === 'None' && !mayBeSecure) {
    review.report(['cookie', 'sameSite'], 'None needs secure: true, or an https publicUrl')
  }
}

/** Whether the cookie is Secure, or may be, because the option that decides it is wrong itself. */
function isSecureOrUnsound({ tree, isSound }: Review): boolean {
  if (!isSound(['cookie', 'secure'])) return true
  const { secure } = tree.cookie
  if (secure !== 'auto') return secure
  return !isSound(['publicUrl']) || URL.parse(tree.publicUrl)?.protocol === 'https:'
}
