/** The present state of the connection to the store; only invalidation.ts writes it. */
export interface Contact {
  /** Whether the store answered when it was last asked. */
  isUp: boolean
  /** When the change log was last read, which confirms all entries not dropped; milliseconds since 1970, 0 = never. */
  confirmedAt: number
  /** The time since which every change has been read; Infinity = nothing has been read yet. */
  completeSince: number
}

export function createContact(): Contact {
  return { isUp: false, confirmedAt: 0, completeSince: Number.POSITIVE_INFINITY }
}
