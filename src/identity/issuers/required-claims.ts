import { claimAt, type RequiredClaim } from './issuer.ts'

/** Stands for any text within a value. */
export const anyText = '*'

/** The first of the required claims that a token lacks, or has with none of the values; undefined = it has them all. */
export function findMissingClaim(
  payload: Readonly<Record<string, unknown>>,
  required: readonly RequiredClaim[],
): string | undefined {
  return required.find(([name, values]) => !hasOneOf(claimAt(payload, [name]), values))?.[0]
}

/** A text, a number, true or false, or a list that has one of the values. */
function hasOneOf(claim: unknown, values: readonly string[]): boolean {
  const texts = (Array.isArray(claim) ? claim : [claim]).filter(isPlain).map(String)
  return texts.some((text) => values.some((value) => matches(text, value)))
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** Case counts. Each part between asterisks is looked for once: the first place is as good as any other. */
function matches(text: string, value: string): boolean {
  const [start = '', ...others] = value.split(anyText)
  const end = others.pop()
  if (end === undefined) return text === value
  if (!text.startsWith(start)) return false
  let position = start.length
  for (const part of others) {
    const found = text.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return text.length - end.length >= position && text.endsWith(end)
}
