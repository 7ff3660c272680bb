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
  if (review.isValid([section, 'expires']) && !isDay(tree.expires))
    review.report([section, 'expires'], 'is not a valid date')
}

function reviewUri(review: Review, path: Path, text: string | undefined): void {
  if (text === undefined || !review.isValid(path)) return
  const scheme = URL.parse(text)?.protocol
  if (scheme !== undefined && scheme !== 'http:') return
  const hint = text.includes('@') ? `: mailto:${text}` : ', and begin with https:// if it is a page'
  review.report(path, `must be a URI${hint}`)
}

/** The date is normalized if the month has no such day. */
function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
