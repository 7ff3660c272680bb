/** The fields of lines that each end with CR LF, by name in lower case; a name that occurs again has a list. */
export function parseFields(lines: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null)
  for (let start = 0; start < lines.length; ) {
    const colon = lines.indexOf(':', start)
    const end = lines.indexOf('\r\n', colon)
    const name = lines.slice(start, colon).toLowerCase()
    const value = lines.slice(colon + 2, end)
    const before = fields[name]
    fields[name] = before === undefined ? value : [before, value].flat()
    start = end + 2
  }
  return fields
}
