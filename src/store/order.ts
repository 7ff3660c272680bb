import { compareTexts } from './compare-texts.ts'

interface CreatedRecord {
  readonly createdAt: number
  readonly id: string
}

/** The order of lists by time: newest first, and those of one moment by their IDs. */
export function newestFirst(a: CreatedRecord, b: CreatedRecord): number {
  return b.createdAt - a.createdAt || compareTexts(a.id, b.id)
}
