/** Fields of HTTP/1.1 connections, which HTTP/2 does not have (RFC 9113 8.2.2). */
const connectionFields = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te'])

/**
 * The fields of a request for node:http2, from its head as HTTP/1.1 writes it: one code decides what a backend gets.
 * @param head request line, Host, other lines and the empty line, in Latin-1
 * @returns name, value, name, value: pseudo-header fields first, names in lower case
 */
export function requestFields(head: string, scheme: 'http' | 'https'): string[] {
  const lineEnd = head.indexOf('\r\n')
  const methodEnd = head.indexOf(' ')
  const method = head.slice(0, methodEnd)
  const path = head.slice(methodEnd + 1, lineEnd - ' HTTP/1.1'.length)
  const fields = [':method', method, ':path', path, ':scheme', scheme, ':authority', '']
  const lines = readLines(head, lineEnd + 2, [])
  for (let index = 0; index + 1 < lines.length; index += 2) {
    const name = lines[index] ?? ''
    const value = lines[index + 1] ?? ''
    if (name === 'host') fields[7] = value
    else if (!connectionFields.has(name)) fields.push(name, value)
  }
  // The gateway reads trailer fields, whatever the client does; servers of gRPC require that it says so.
  fields.push('te', 'trailers')
  return fields
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

function readLines(lines: string, from: number, fields: string[]): string[] {
  let start = from
  for (let end = lines.indexOf('\r\n', start); end > start; end = lines.indexOf('\r\n', start)) {
    const colon = lines.indexOf(':', start)
    fields.push(lines.slice(start, colon).toLowerCase(), lines.slice(colon + 2, end))
    start = end + 2
  }
  return fields
}
