import type { RepeatedLine } from '../exchange/request-head.ts'
import { copyString, sharedCopy } from '../platform/copy-string.ts'
import type { RequestTarget } from '../routes/request-target.ts'
import { type Route, upstreamTarget } from '../routes/route.ts'

/** Longer ones are not kept: there may be one for each line that is. */
const lengthMax = 256

/** What the start of a head is written from. */
export interface StartInput {
  readonly method: string
  readonly target: RequestTarget
  readonly route: Pick<Route<unknown>, 'stripPrefix' | 'depth'>
  readonly sentHost: string
}

interface KeptStart extends StartInput {
  /** What the route makes of the target. */
  readonly requestTarget: string
  readonly text: string
}

/**
 * The request line and Host of a head for the upstream. The first that is written for a line that repeats is kept, as one
 * text: V8 copies each of the texts that one is joined from on its own, and allocates for each. Others for it are not, as
 * where the targets take turns.
 * @param line that of the client's request; undefined = it is not known to repeat
 */
export function keepStart(line: RepeatedLine | undefined, input: StartInput): string {
  const { method, target, route, sentHost } = input
  // The cast is sound: nothing else writes it.
  const kept = line?.start as KeptStart | undefined
  const mayBeKept = kept?.method === method && kept.sentHost === sentHost
  // Mostly they are the very same, and none of their texts is looked at: of thousands, each would be loaded for that.
  if (mayBeKept && kept.target === target && kept.route === route) return kept.text
  const requestTarget = upstreamTarget(route, target)
  if (mayBeKept && kept.requestTarget === requestTarget) return kept.text
  const text = `${method} ${requestTarget} HTTP/1.1\r\nHost: ${sentHost}\r\n`
  if (line !== undefined && kept === undefined && text.length <= lengthMax)
    line.start = keptStart(input, requestTarget, text)
  return text
}

/** Most starts have the same. */
let lastHost = ''

/** Method and target are texts of the line. As a slice of the head, the host would keep it in memory, with its credentials. */
function keptStart(
  { method, target, route, sentHost }: StartInput,
  requestTarget: string,
  text: string,
): KeptStart {
  lastHost = sharedCopy(sentHost, lastHost)
  return { method, sentHost: lastHost, target, route, text: copyString(text), requestTarget }
}
