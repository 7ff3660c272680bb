import type { FastifyRequest } from 'fastify'
import type { AccountActions } from '#accounts/account-actions.ts'
import { pageLimitMax } from '#accounts/account-search.ts'
import type { BlockedSubjects } from '#identity/issuers/subjects.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type JsonSchema, objectSchema, textOrNull } from '#platform/json-schema.ts'
import type { Clock } from '#platform/time.ts'

/** The parameters of a page of a list. */
export const page = {
  limit: { type: 'integer', minimum: 1, maximum: pageLimitMax, default: 50 },
  cursor: { type: 'string', description: 'nextCursor of the previous page.' },
} as const

export const pageQuery = objectSchema({}, page)

export function pageSchema(items: JsonSchema): JsonSchema {
  return objectSchema({ items: { type: 'array', items }, nextCursor: textOrNull })
}

/** A page as the API shows it. */
export function pageData<Item, Data>(
  { items, nextCursor }: { readonly items: readonly Item[]; readonly nextCursor: string | undefined },
  dataOf: (item: Item) => Data,
): { readonly items: readonly Data[]; readonly nextCursor: string | null } {
  return { items: items.map(dataOf), nextCursor: nextCursor ?? null }
}

export interface AdminOperationOptions {
  /** Account actions on behalf of the calling Admin, who is named in the audit log. */
  actionsOf(request: FastifyRequest): AccountActions
  /** Actions on users of foreign issuers, on behalf of the same. */
  subjectsOf(request: FastifyRequest): BlockedSubjects
  /**
   * For actions for which the portal asks for the password on one's own account. Here no password can be asked for, so
   * they are refused to an Admin who calls with the access cookie of a portal session and names their own account.
   * @throws GatehouseError `own-account`
   */
  actionsWithoutPassword(request: FastifyRequest): Promise<AccountActions>
  /** Whether the caller may change their own account here: see actionsWithoutPassword. */
  mayChangeOwn(request: FastifyRequest): Promise<boolean>
  /** Whether new accounts get a set-up link. */
  readonly hasSetupLinks: boolean
  readonly clock: Clock
}

/** The account ID in a path. @throws GatehouseError `account-not-found` for an e-mail, which must not be in a URL */
export function idOf({ params }: FastifyRequest): string {
  // The cast is sound: the path has this parameter.
  const { id } = params as { readonly id: string }
  if (id.includes('@')) throw new GatehouseError('account-not-found')
  return id
}
