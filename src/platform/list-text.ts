/** `a`, `a or b`, `a, b or c`; empty without texts. */
export function listText(texts: readonly string[]): string {
  const last = texts.at(-1) ?? ''
  return texts.length < 2 ? last : `${texts.slice(0, -1).join(', ')} or ${last}`
}
