/**
 * The fields of a response for node:http2.
 * @param lines field lines, each ended by CR LF, in the order they are to be sent
 * @returns name, value, name, value, with `:status` first and names in lower case (RFC 9113 8.2)
 */
export function responseFields(status: number, lines: string): string[] {
  return readLines(lines, 0, [':status', String(status)])
}

/** Trailer fields by name in lower case; those of one name as a list. */
export function trailerFields(lines: string): Record<string, string | string[]> {
  const fields = readLines(lines, 0, [])
  const byName: Record<string, string | string[]> = Object.create(null)
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] ?? ''
    const value = fields[index + 1] ?? ''
    const before = byName[name]
    byName[name] = before === undefined ? value : [before, value].flat()
  }
  return byName
}

/**
 * Reads field lines as the gateway writes them, up to their end or an empty line.
 * @param from the index of the first
 * @param fields gets name, value, name, value, with names in lower case @returns the same
 */
export function readLines(lines: string, from: number, fields: string[]): string[] {
  let start = from
  for (let end = lines.indexOf('\r\n', start); end > start; end = lines.indexOf('\r\n', start)) {
    const colon = lines.indexOf(':', start)
    fields.push(lines.slice(start, colon).toLowerCase(), lines.slice(colon + 2, end))
    start = end + 2
  }
  return fields
}

/** The answer to the key that the client did not send (RFC 8441 5). */
export function withoutAccept(fields: string[]): string[] {
  const at = fields.indexOf('sec-websocket-accept')
  return at === -1 ? fields : fields.toSpliced(at, 2)
}
