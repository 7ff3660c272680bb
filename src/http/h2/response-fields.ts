import type { FieldWriter } from './framing/stream-connection.ts'
import type { HpackEncoder } from './hpack/encoder.ts'

interface LineOptions {
  /** The index of the first line. */
  readonly from?: number
  /** Tells which names, as they are in the lines, are not sent. */
  readonly isLeftOut?: (name: string) => boolean
}

/** @param lines field lines, each ended by CR LF */
export function headWriter(status: number, lines: string, options?: LineOptions): FieldWriter {
  return (encoder) => {
    encoder.add(':status', String(status))
    addLines(encoder, lines, options)
  }
}

/**
 * Adds field lines as the gateway writes them to a field block, up to their end or an empty line.
 * @param lines field lines, each ended by CR LF
 */
export function addLines(
  encoder: HpackEncoder,
  lines: string,
  { from = 0, isLeftOut }: LineOptions = {},
): void {
  let start = from
  for (let end = lines.indexOf('\r\n', start); end > start; end = lines.indexOf('\r\n', start)) {
    const colon = lines.indexOf(':', start)
    const name = lines.slice(start, colon)
    if (isLeftOut?.(name) !== true) encoder.add(name, lines.slice(colon + 2, end))
    start = end + 2
  }
}

/** The key that the client did not send has no answer (RFC 8441 5). */
export function isAcceptOfKey(name: string): boolean {
  return name.toLowerCase() === 'sec-websocket-accept'
}
