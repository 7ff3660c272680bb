/** What is known of the store at this moment; written by the one who asks it (invalidation.ts). */
export interface Contact {
  /** Whether the store answered when it was last asked. */
  isUp: boolean
  /** When it last said that what was not dropped since is true; in ms since 1970, 0 = never. */
  confirmedAt: number
  /** From when on every change has been heard of; Infinity = none yet. */
  completeSince: number
}

export function createContact(): Contact {
  return { isUp: false, confirmedAt: 0, completeSince: Number.POSITIVE_INFINITY }
}
