import type { Review } from '../review.ts'

/** Browsers drop a cookie that breaks the rules of its name (RFC 6265bis 4.1.3): say so at once. */
export function reviewCookie(review: Review): void {
  if (!review.isSound(['cookie']) || !review.isSound(['publicUrl'])) return
  const { name, path, sameSite, secure } = review.tree.cookie
  const isHttps = URL.parse(review.tree.publicUrl)?.protocol === 'https:'
  const isSecure = secure === 'auto' ? isHttps : secure
  if (/^__(host|secure)-/i.test(name) && !isSecure) {
    review.report(['cookie', 'name'], `"${name}" needs secure: true, or an https publicUrl`)
  }
  if (/^__host-/i.test(name) && path !== '/') {
    review.report(['cookie', 'path'], `must be / for a name that begins with __Host-`)
  }
  if (sameSite === 'None' && !isSecure) {
    review.report(['cookie', 'sameSite'], 'None needs secure: true, or an https publicUrl')
  }
}
