import type { Target } from '../upstream/target.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { keepStart } from './kept-start.ts'

const emptyLine = '\r\n'

/** The whole head for a target, with the empty line at its end. */
export function forwardedRequestHead(
  { arrival, route, destination, secondTargets, headerLines }: ForwardedRequest,
  { authority, origin }: Pick<Target, 'authority' | 'origin'>,
): string {
  const { method, repeatedLine } = arrival.head
  const sentHost = route.upstream.host === 'client' ? (arrival.fields.host ?? '') : authority
  const lines =
    secondTargets === undefined
      ? headerLines
      : secondTargetLines(secondTargets, { origin, sentHost }) + headerLines
  return keepStart(repeatedLine, { method, destination, route, sentHost }) + lines + emptyLine
}

/** What a backend is told of the second targets of a request, which have passed. */
export interface SecondTargets {
  /** Each ended by CR LF. */
  readonly lines: string
  /** Path and query of a Destination that becomes a URL of the target; undefined = there is none. */
  readonly targetDestination: string | undefined
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
