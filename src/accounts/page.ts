import { createListCursor, type ListPosition } from './cursor.ts'

/** A part of a list, with the way to the next. */
export interface Page<Entry> {
  readonly items: readonly Entry[]
  /** The cursor of the next page; undefined = this is the last. */
  readonly nextCursor: string | undefined
}

/** The first page of what is left of a list in the order of time. @param entries at least one more if there are more */
export function pageOf<Entry extends ListPosition>(entries: readonly Entry[], limit: number): Page<Entry> {
  const items = entries.slice(0, limit)
  const last = items.at(-1)
  return { items, nextCursor: entries.length > limit && last ? createListCursor(last) : undefined }
}
