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

/** An object or a list that has begun but not ended. */
interface Open {
  /** The names so far; undefined = a list. */
  readonly names: Set<string> | undefined
  /** The latest member, by its name or its place. */
  member: string | number
}

/**
 * The first member that has the name of an earlier one of its object. Of these, other programs may read another one
 * than JSON.parse does (RFC 8259 4). Names are compared without their escapes, and in time proportional to the text.
 * @param text is valid JSON
 * @returns names and places from the outermost object on, joined by dots; undefined = there is none
 */
export function duplicateMember(text: string): string | undefined {
  const open: Open[] = []
  let latest = ''
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '"') {
      const end = endOfString(text, index)
      latest = text.slice(index, end)
      index = end - 1
    } else if (character === '{') open.push({ names: new Set(), member: '' })
    else if (character === '[') open.push({ names: undefined, member: 0 })
    else if (character === '}' || character === ']') open.pop()
    else if (character === ',') nextItem(open.at(-1))
    // Only a member's name is followed by a colon.
    else if (character === ':' && !nextMember(open.at(-1), latest))
      return open.map(({ member }) => member).join('.')
  }
  return undefined
}

function nextItem(list: Open | undefined): void {
  if (typeof list?.member === 'number') list.member++
}

/** @returns false where the object has a member of that name already */
function nextMember(object: Open | undefined, text: string): boolean {
  if (!object?.names) return true
  const name = text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
  object.member = name
  if (object.names.has(name)) return false
  object.names.add(name)
  return true
}

/** The index after the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let index = start + 1
  while (index < text.length && text[index] !== '"') index += text[index] === '\\' ? 2 : 1
  return index + 1
}

/** Parses a JSON object; undefined if it is invalid. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}
