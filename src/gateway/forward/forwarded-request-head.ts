import type { Target } from '#http/upstream/target.ts'
import { upstreamTarget } from '../routes/route.ts'
import type { ForwardedRequest, SecondTargets } from './forwarded-request.ts'

/** The whole head for a target, with the empty line at its end. */
export function forwardedRequestHead(
  { arrival, route, destination, secondTargets, headerLines }: ForwardedRequest,
  { authority, origin }: Pick<Target, 'authority' | 'origin'>,
): string {
  const { method } = arrival.head
  const sentHost = route.upstream.host === 'client' ? (arrival.fields.host ?? '') : authority
  const lines =
    secondTargets === undefined
      ? headerLines
      : secondTargetLines(secondTargets, { origin, sentHost }) + headerLines
  const target = upstreamTarget(route, destination.target)
  return `${method} ${target} HTTP/1.1\r\nHost: ${sentHost}\r\n${lines}\r\n`
}

/** @param target its origin, such as `http://10.0.0.11:3000`, and the Host that it gets */
export function secondTargetLines(
  { lines, targetDestination }: SecondTargets,
  { origin, sentHost }: { readonly origin: string; readonly sentHost: string },
): string {
  if (targetDestination === undefined) return lines
  const scheme = origin.slice(0, origin.indexOf('//'))
  return `Destination: ${scheme}//${sentHost}${targetDestination}\r\n${lines}`
}
