/** Whether a value is a JSON object, and no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses JSON; undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Strings and what gives JSON its structure. */
const jsonTokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g

/**
 * Whether any object in a JSON text has two members of one name, of which other programs may read another one than
 * JSON.parse does. @param text is valid JSON
 */
export function hasDuplicateNames(text: string): boolean {
  const open: (Set<string> | undefined)[] = []
  let latest = ''
  for (const [token] of text.matchAll(jsonTokens)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (token !== ':') latest = token
    else {
      // Only a member's name is followed by a colon. It may be written with escapes.
      const name = String(JSON.parse(latest))
      const names = open.at(-1)
      if (names?.has(name)) return true
      names?.add(name)
    }
  }
  return false
}

/** Parses a JSON object; undefined if it is invalid. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}
