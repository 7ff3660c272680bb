import type { Target } from '../upstream/target.ts'
import type { ForwardedRequest } from './forwarded-request.ts'
import { keepStart } from './kept-start.ts'

const emptyLine = '\r\n'

/** The whole head for a target, with the empty line at its end. */
export function forwardedRequestHead(
  { arrival, route, destination, davDestination, headerLines }: ForwardedRequest,
  { authority, origin }: Pick<Target, 'authority' | 'origin'>,
): string {
  const { method, repeatedLine } = arrival.head
  const sentHost = route.upstream.host === 'client' ? (arrival.fields.host ?? '') : authority
  const lines =
    davDestination === undefined
      ? headerLines
      : `${destinationLine(davDestination, origin, sentHost)}${headerLines}`
  return keepStart(repeatedLine, { method, destination, route, sentHost }) + lines + emptyLine
}

/**
 * A URL of the backend itself, as it sees its host and scheme: most refuse any other, and mod_dav a path alone.
 * @param origin of the target: `http://10.0.0.11:3000`
 */
export function destinationLine(path: string, origin: string, sentHost: string): string {
  const scheme = origin.slice(0, origin.indexOf('//'))
  return `Destination: ${scheme}//${sentHost}${path}\r\n`
}
