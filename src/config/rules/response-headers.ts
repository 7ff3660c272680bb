import { foldHeaderName } from '#platform/text.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'
import { identityHeaders } from './identity.ts'
import { reservedInResponses } from './reserved-fields.ts'
import { reviewValues } from './upstreams.ts'

type RouteTree = ConfigTree['routes'][number]

/** Checks that response headers are the operator's to set or remove, and that their values can be sent. */
export function reviewResponseHeaders(
  review: ConfigReview,
  index: number,
  { responseHeaders }: RouteTree,
): void {
  const path = ['routes', index, 'responseHeaders']
  if (!['set', 'remove'].every((part) => review.hasValidShape([...path, part]))) return
  const { set, remove } = responseHeaders
  const setNames = Object.keys(set).map((name) => ({ name, at: [...path, 'set', name], isSet: true }))
  const removed = remove.map((name, place) => ({ name, at: [...path, 'remove', place], isSet: false }))
  const seen = new Set<string>()
  for (const { name, at, isSet } of [...setNames, ...removed]) {
    if (!isSet && !review.isValid(at)) continue
    const lower = name.toLowerCase()
    const problem = seen.has(lower) ? 'is named more than once' : nameProblem(review, name, isSet)
    seen.add(lower)
    if (problem !== undefined) review.report(at, `"${name}" ${problem}`, isSet ? 'key' : 'value')
  }
  reviewValues(review, [...path, 'set'], set)
}

function nameProblem(review: ConfigReview, name: string, isSet: boolean): string | undefined {
  const folded = foldHeaderName(name)
  if (folded.startsWith('accesscontrol') && review.isValid(['cors']) && review.tree.cors.origins.length > 0)
    return 'is decided by cors.origins'
  if (isSet && folded === 'setcookie')
    return 'would replace the cookies of the backend: let the backend set it'
  // A proxy in front may copy it to the requests that it forwards.
  if (isSet && identityHeaders(review).has(folded)) return 'says who is calling: clients need not know'
  return reservedInResponses.get(folded)
}
