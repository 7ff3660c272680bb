import type { RepeatedLine } from '../exchange/request-head.ts'
import { copyString } from '../platform/copy-string.ts'

/** Longer ones are not kept: there may be one for each line that is. */
const lengthMax = 256

interface KeptStart {
  readonly method: string
  readonly requestTarget: string
  readonly sentHost: string
  readonly text: string
}

/**
 * The request line and Host of a head for the upstream. The first that is written for a line that repeats is kept, as one
 * text: V8 copies each of the texts that one is joined from on its own, and allocates for each. Others for it are not, as
 * where the targets take turns.
 * @param line that of the client's request; undefined = it is not known to repeat
 */
export function keepStart(
  line: RepeatedLine | undefined,
  method: string,
  requestTarget: string,
  sentHost: string,
): string {
  // The cast is sound: nothing else writes it.
  const kept = line?.start as KeptStart | undefined
  if (kept?.requestTarget === requestTarget && kept.sentHost === sentHost && kept.method === method)
    return kept.text
  const text = `${method} ${requestTarget} HTTP/1.1\r\nHost: ${sentHost}\r\n`
  if (line !== undefined && kept === undefined && text.length <= lengthMax)
    line.start = keptStart(method, requestTarget, sentHost, text)
  return text
}

/** Method and target are texts of the line. As a slice of the head, the host would keep it in memory, with its credentials. */
function keptStart(method: string, requestTarget: string, sentHost: string, text: string): KeptStart {
  return { method, requestTarget, sentHost: copyString(sentHost), text: copyString(text) }
}
