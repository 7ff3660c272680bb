import { handOverQueryLengthMax, returnPathLengthMax } from '#gateway/browser/sign-in-return.ts'
import { pageAccessAt } from './page-access.ts'

/** The first page after signing in. */
export const startPath = '/integration'

/** Room for a page that a visit is led back to. */
const nextLengthMax = returnPathLengthMax + handOverQueryLengthMax

/**
 * The path if it is a page of the portal, else empty. Browsers resolve dot segments, encoded ones too, and could leave
 * the portal by them.
 */
export function safeRedirectPath(next: string): string {
  const [path = ''] = next.split('?', 1)
  if (!/^\/[\w/?=&%.~+-]*$/.test(next) || next.length > nextLengthMax) return ''
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path)) return ''
  return pageAccessAt(path)?.methods.includes('GET') ? next : ''
}
