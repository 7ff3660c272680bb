import type { RequestHead } from '#http/exchange/request-head.ts'
import { onlyValueOf } from '#http/h1/raw-headers.ts'
import { prefersHtml } from '../refusals/error-page.ts'

/**
 * Whether a browser shows the response as a page of its own: not in a frame, where the sign-in is not shown, and not as
 * an image, a download by a script or data. A browser that does not say is known by an Accept that prefers HTML.
 */
export function isPageVisit(head: RequestHead): boolean {
  const { method, rawHeaders, upgrade } = head
  if ((method !== 'GET' && method !== 'HEAD') || upgrade !== undefined) return false
  const mode = onlyValueOf(rawHeaders, 'sec-fetch-mode')
  const destination = onlyValueOf(rawHeaders, 'sec-fetch-dest')
  if (mode === undefined && destination === undefined) return prefersHtml(head)
  return (mode ?? 'navigate') === 'navigate' && (destination ?? 'document') === 'document'
}
