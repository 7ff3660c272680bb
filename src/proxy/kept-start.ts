import type { RepeatedLine } from '../exchange/request-head.ts'
import { copyString, sharedCopy } from '../platform/copy-string.ts'
import { isSame } from '../platform/is-same.ts'
import type { RequestTarget } from '../routes/request-target.ts'
import { type Route, upstreamTarget } from '../routes/route.ts'

/** Longer ones are not kept: there may be one for each line that is. */
const lengthMax = 256

/** What the start of a head is written from. */
export interface StartInput {
  readonly method: string
  readonly destination: { readonly target: RequestTarget }
  readonly route: Pick<Route<unknown>, 'stripPrefix' | 'depth'>
  readonly sentHost: string
}

/**
 * The request line and Host of a head for the upstream. The first that is written for a line that repeats is kept, as one
 * text: V8 copies each of the texts that one is joined from on its own, and allocates for each. Others for it are not, as
 * where the targets take turns.
 * @param line that of the client's request; undefined = it is not known to repeat
 */
export function keepStart(line: RepeatedLine | undefined, input: StartInput): string {
  const { destination, route, sentHost } = input
  const isForHost = line !== undefined && line.startHost === sentHost
  // Mostly they are the very same, and none of their texts is looked at: of thousands, each would be loaded for that.
  if (isForHost && isSame(line.startDestination, destination) && isSame(line.startRoute, route))
    return line.start
  const path = upstreamTarget(route, destination.target)
  if (isForHost && line.startPath === path) return line.start
  const text = `${input.method} ${path} HTTP/1.1\r\nHost: ${sentHost}\r\n`
  if (line !== undefined && line.start === '' && text.length <= lengthMax) keep(line, input, path, text)
  return text
}

/** Most starts have the same. */
let lastHost = ''

/** The target is a text of the line. As a slice of the head, the host would keep it in memory, with its credentials. */
function keep(
  line: RepeatedLine,
  { destination, route, sentHost }: StartInput,
  path: string,
  text: string,
): void {
  lastHost = sharedCopy(sentHost, lastHost)
  line.start = copyString(text)
  line.startDestination = destination
  line.startRoute = route
  line.startHost = lastHost
  line.startPath = path
}
