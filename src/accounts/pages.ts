import { type GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { parseJson } from '#platform/json.ts'
import type { EpochMs } from '#platform/time.ts'

/** Where a page of a list ended: it names the last entry. Opaque to clients. */
export type CursorParts = readonly [string, string]

/** A position in a list ordered by time, then by ID. */
export interface ListPosition {
  readonly createdAt: EpochMs
  readonly id: string
}

/** Which page of a list is asked for. */
export interface PageRequest {
  /** From the page before; undefined = the first. */
  readonly cursor: string | undefined
  /** From 1. */
  readonly limit: number
}

export interface Page<Entry> {
  readonly items: readonly Entry[]
  /** The cursor of the next page; undefined = this is the last. */
  readonly nextCursor: string | undefined
}

export function createCursor(parts: CursorParts): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** @throws GatehouseError `request-invalid` (field `cursor`) for an invalid cursor */
export function parseCursor(cursor: string): CursorParts {
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString())
  const [first, second]: unknown[] = Array.isArray(parts) && parts.length === 2 ? parts : []
  if (typeof first !== 'string' || typeof second !== 'string') throw invalidCursor()
  return [first, second]
}

function createListCursor({ createdAt, id }: ListPosition): string {
  return createCursor([String(createdAt), id])
}

/** @throws GatehouseError `request-invalid` (field `cursor`) for a cursor of another list */
export function parseListCursor(cursor: string): ListPosition {
  return parseListPosition(parseCursor(cursor))
}

/** @throws GatehouseError `request-invalid` (field `cursor`) for the parts of a cursor of another list */
export function parseListPosition([createdAt, id]: CursorParts): ListPosition {
  if (!/^\d{1,16}$/.test(createdAt)) throw invalidCursor()
  return { createdAt: Number(createdAt), id }
}

/**
 * A page of entries ordered by time, which begins with the first of these.
 * @param entries at least one more than `limit` if there are more
 */
export function pageOf<Entry>(
  entries: readonly Entry[],
  limit: number,
  positionOf: (entry: Entry) => ListPosition,
): Page<Entry> {
  const items = entries.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    nextCursor: entries.length > limit && last ? createListCursor(positionOf(last)) : undefined,
  }
}

function invalidCursor(): GatehouseError {
  return invalidField('cursor', 'must be the nextCursor of a page of the same query')
}
