/** A Cookie header without the cookies of one name; empty where nothing is left. */
export function withoutCookie(header: string, name: string): string {
  if (!header.includes(name)) return header
  const pairs = header.split(';')
  const others = pairs.filter((pair) => pair.split('=', 1)[0]?.trim() !== name)
  return others.length === pairs.length ? header : others.join(';').trim()
}
