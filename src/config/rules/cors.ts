import { parseOrigin } from '../origin.ts'
import type { Review } from '../review.ts'

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
