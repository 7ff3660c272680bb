// RFC 9110 5.1 (names are tokens) and 5.5 (values), RFC 9112 5 (no space before the colon, no folding).
const wellFormed = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/

/**
 * Header or trailer fields from their lines, each ended by CR LF.
 * @returns name, value, name, value; undefined where a line is not well-formed
 */
export function parseFieldLines(text: string): string[] | undefined {
  if (!wellFormed.test(text)) return undefined
  const fields: string[] = []
  for (let start = 0; start < text.length; ) {
    const colon = text.indexOf(':', start)
    const end = text.indexOf('\r\n', colon)
    fields.push(text.slice(start, colon), withoutOuterSpace(text.slice(colon + 1, end)))
    start = end + 2
  }
  return fields
}

/** Without the spaces and tabs around it (RFC 9110 5.6.3): nothing else that trim() takes for space. */
function withoutOuterSpace(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isSpace(value.charCodeAt(start))) start++
  while (end > start && isSpace(value.charCodeAt(end - 1))) end--
  return start === 0 && end === value.length ? value : value.slice(start, end)
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/**
 * Whether what ends with this mark is longer than allowed, the mark not counted.
 * @param end where the mark begins; -1 where it is not there yet, though its first bytes may be
 */
export function isTooLong(bytes: Buffer, end: number, mark: string, bytesMax: number): boolean {
  return end === -1 ? bytes.length >= bytesMax + mark.length : end > bytesMax
}
