import type { SQLInputValue } from 'node:sqlite'
import { startOfDay } from '#platform/time.ts'
import { needleOf, passesFilter, positionOf } from '../account-search.ts'
import type {
  Account,
  AccountFilter,
  AccountOrder,
  AccountPosition,
  FilteredAccounts,
  FilterPage,
  ListedAccount,
} from '../accounts.ts'
import type { Database } from './database.ts'

/**
 * How many index entries one call scans, which blocks this process for a millisecond or a few. By e-mail they are
 * fewer, as that index has only the e-mail, so each row has to be read.
 */
const scannedMax: Readonly<Record<AccountOrder, number>> = { newest: 5_000, oldest: 5_000, email: 500 }

/** How an order is read: its columns, and positions before everything and after everything. */
const orders: Readonly<
  Record<
    AccountOrder,
    { columns: string; isDescending: boolean; first: string | number; last: string | number }
  >
> = {
  newest: { columns: 'created_at', isDescending: true, first: Number.MAX_SAFE_INTEGER, last: -1 },
  oldest: { columns: 'created_at', isDescending: false, first: -1, last: Number.MAX_SAFE_INTEGER },
  email: { columns: 'email_key', isDescending: false, first: '', last: '\u{10ffff}' },
}

const lastActive = '(SELECT day FROM activity WHERE account_id = accounts.id)'

const conditions = `
  (:role IS NULL OR role = :role) AND (:plan IS NULL OR ifnull(plan, '') = :plan)
  AND (:disabled IS NULL OR is_disabled = :disabled)
  AND (:needle IS NULL OR instr(email_key, :needle) > 0 OR instr(lower(first_name), :needle) > 0
    OR instr(lower(last_name), :needle) > 0)
  AND (:activeSince IS NULL OR ${lastActive} >= :activeSince)
  AND (:inactiveSince IS NULL
    OR (created_at < :createdBefore AND ifnull(${lastActive}, -1) < :inactiveSince))`

/** Lists accounts with a filter. Every function is to be called within a read. @param find the account with an ID */
export function createAccountLists({ prepare }: Database, find: (id: string) => Account | undefined) {
  const statements = {
    newest: prepareOrder('newest'),
    oldest: prepareOrder('oldest'),
    email: prepareOrder('email'),
  }
  const selectActivity = prepare('SELECT day FROM activity WHERE account_id = ?')
  const selectCount = prepare('SELECT accounts FROM account_count')

  function prepareOrder(order: AccountOrder) {
    const { columns, isDescending } = orders[order]
    const key = `(${columns}, id)`
    const [after, until, way] = isDescending ? ['<', '>=', 'DESC'] : ['>', '<=', 'ASC']
    const ordered = `ORDER BY ${columns} ${way}, id ${way}`
    return {
      end: prepare(
        `SELECT ${columns} AS key, id FROM accounts WHERE ${key} ${after} (?, ?) ${ordered} LIMIT 1 OFFSET ?`,
      ),
      match: prepare(
        `SELECT id FROM accounts WHERE ${key} ${after} (:key, :id) AND ${key} ${until} (:endKey, :endId)
         AND ${conditions} ${ordered} LIMIT :limit`,
      ),
    }
  }

  function findListed(id: string): ListedAccount | undefined {
    const account = find(id)
    if (!account) return undefined
    const day = selectActivity.get(id)?.day
    return { ...account, lastActiveDay: typeof day === 'number' ? day : undefined }
  }

  function filterAccounts({ filter, order, after, limit }: FilterPage): FilteredAccounts {
    const { first, last } = orders[order]
    const start = after ?? { key: first, id: '' }
    const { end: selectEnd, match } = statements[order]
    const row = selectEnd.get(start.key, start.id, scannedMax[order] - 1)
    const end: AccountPosition | undefined = row && {
      key: typeof row.key === 'number' ? row.key : String(row.key),
      id: String(row.id),
    }
    const found = match
      .all({
        ...conditionValues(filter),
        key: start.key,
        id: start.id,
        endKey: end?.key ?? last,
        endId: end?.id ?? '',
        limit,
      })
      .map(({ id }) => findListed(String(id)))
      .filter((account) => account !== undefined)
    const lastFound = found.length === limit ? found.at(-1) : undefined
    return {
      // SQLite compares only the ASCII letters of one word.
      accounts: found.filter((account) => passesFilter(account, filter)),
      next: lastFound ? positionOf(lastFound, order) : end,
    }
  }

  return { findListed, filterAccounts, count: () => Number(selectCount.get()?.accounts) }
}

function conditionValues(filter: AccountFilter): Record<string, SQLInputValue> {
  const { role, plan, isDisabled, activeSince, inactiveSince } = filter
  return {
    role: role ?? null,
    plan: plan === undefined ? null : (plan ?? ''),
    disabled: isDisabled === undefined ? null : Number(isDisabled),
    needle: needleOf(filter) ?? null,
    activeSince: activeSince ?? null,
    inactiveSince: inactiveSince ?? null,
    createdBefore: inactiveSince === undefined ? null : startOfDay(inactiveSince),
  }
}
