/** Whether a value is a JSON object, and not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The names of the members of a table: of an object that has no other members than its type says. */
export function keysOf<Name extends string>(table: Readonly<Record<Name, unknown>>): readonly Name[] {
  return Object.keys(table) as Name[]
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
  /** The member names so far; undefined = a list. */
  readonly names: Set<string> | undefined
  /** The latest member, by name or index. */
  member: string | number
}

/**
 * The first member with the same name as an earlier one of its object. Of such members, other programs may read another
 * one than JSON.parse does (RFC 8259 4). Names are compared without their escapes, and in linear time.
 * @param text is valid JSON
 * @returns its names and indexes from the outermost object on, joined by dots; undefined = there is none
 */
export function duplicateMember(text: string): string | undefined {
  const open: Open[] = []
  let innermost: Open | undefined
  // The previous string, with its quotes.
  let start = 0
  let end = 0
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case quote:
        start = index
        end = endOfString(text, index)
        index = end
        break
      case openingBrace:
        innermost = { names: new Set(), member: '' }
        open.push(innermost)
        break
      case openingBracket:
        innermost = { names: undefined, member: 0 }
        open.push(innermost)
        break
      case closingBrace:
      case closingBracket:
        open.pop()
        innermost = open.at(-1)
        break
      case comma:
        if (typeof innermost?.member === 'number') innermost.member++
        break
      // Only the name of a member is followed by a colon.
      case colon:
        if (!nextMember(innermost, text.slice(start + 1, end)))
          return open.map(({ member }) => member).join('.')
        break
    }
  }
  return undefined
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openingBracket = 0x5b
const backslash = 0x5c
const closingBracket = 0x5d
const openingBrace = 0x7b
const closingBrace = 0x7d

/**
 * @param written its name, with escapes
 * @returns false if the object already has a member with that name
 */
function nextMember(object: Open | undefined, written: string): boolean {
  if (!object?.names) return true
  const { names } = object
  const name = written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written
  object.member = name
  const before = names.size
  return names.add(name).size > before
}

/** The index of the closing quote of a string. @param start index of the opening quote */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end
}

/** Whether it is preceded by an odd number of backslashes. */
function isEscaped(text: string, index: number): boolean {
  let start = index
  while (text.charCodeAt(start - 1) === backslash) start--
  return (index - start) % 2 === 1
}

/** Parses a JSON object; undefined if it is invalid. */
export function parseJsonObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text)
  return isRecord(value) ? value : undefined
}
