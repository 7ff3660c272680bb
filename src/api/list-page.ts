import { pageLimitMax } from '#accounts/find-accounts.ts'
import { type JsonSchema, objectSchema, textOrNull } from '#platform/json-schema.ts'

export function pageSchema(items: JsonSchema): JsonSchema {
  return objectSchema({ items: { type: 'array', items }, nextCursor: textOrNull })
}

/** The parameters of a page of a list. */
export const page = {
  limit: { type: 'integer', minimum: 1, maximum: pageLimitMax, default: 50 },
  cursor: { type: 'string', description: 'nextCursor of the previous page.' },
} as const

export const pageQuery = objectSchema({}, page)

/** A page as the API shows it. */
export function pageData<Item, Data>(
  { items, nextCursor }: { readonly items: readonly Item[]; readonly nextCursor: string | undefined },
  dataOf: (item: Item) => Data,
): { readonly items: readonly Data[]; readonly nextCursor: string | null } {
  return { items: items.map(dataOf), nextCursor: nextCursor ?? null }
}
