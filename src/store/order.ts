interface CreatedRecord {
  readonly createdAt: number
  readonly id: string
}

/** The order of lists by time: newest first, and those of one moment by their IDs. */
export function newestFirst(a: CreatedRecord, b: CreatedRecord): number {
  return b.createdAt - a.createdAt || compareTexts(a.id, b.id)
}

/** By their bytes, as SQLite and Redis order texts: lists have the same order in every store. */
export function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
