/** By their bytes, as SQLite and Redis order texts: what is listed comes in one order, whichever store has it. */
export function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
