import { isDay } from '#platform/time.ts'
import type { Path } from '../problem.ts'
import type { Review } from '../review.ts'

/** Checks that readers of security.txt can use what it says (RFC 9116 2.5). */
export function reviewSecurityTxt(review: Review): void {
  const section = 'securityTxt'
  const { [section]: tree } = review.tree
  if (!tree || !review.hasValidShape([section])) return
  if (review.hasValidShape([section, 'contact']))
    for (const [index, address] of tree.contact.entries())
      reviewUri(review, [section, 'contact', index], address)
  for (const name of ['encryption', 'policy', 'acknowledgments'] as const)
    reviewUri(review, [section, name], tree[name])
  review.check([section, 'expires'], () => (isDay(tree.expires) ? undefined : 'is not a valid date'))
}

function reviewUri(review: Review, path: Path, text: string | undefined): void {
  if (text !== undefined) review.check(path, () => uriProblem(text))
}

function uriProblem(text: string): string | undefined {
  const scheme = URL.parse(text)?.protocol
  if (scheme !== undefined && scheme !== 'http:') return undefined
  return text.includes('@')
    ? `must be a URI: mailto:${text}`
    : 'must be a URI, and begin with https:// if it is a page'
}
