import { dayOf } from '#platform/time.ts'
import {
  asksForActivity,
  matchesEvery,
  needleOf,
  passesActivity,
  passesWithoutActivity,
  positionOf,
} from '../account-search.ts'
import {
  type Account,
  type AccountFilter,
  type AccountPosition,
  emailKey,
  type FilteredAccounts,
  type FilterPage,
  type ListedAccount,
} from '../accounts.ts'
import { parseAccount } from './data-layout.ts'
import type { Connection } from './open-connection.ts'

/** How many accounts one call scans at most, which takes this process a few milliseconds. */
const scannedMax = 500
/** How many entries of the term index: most of them are no e-mails. */
const entriesMax = 2_000
/** After all IDs. */
const idEnd = '\u{10ffff}'

/** Accounts to look at, in their order, and where what follows them begins. */
interface Candidates {
  /** `term`: the account is one only if this is its e-mail. */
  readonly entries: readonly { readonly id: string; readonly term?: string }[]
  readonly next: AccountPosition | undefined
}

/** Lists accounts with a filter: reads them as texts, and parses only those that may match. */
export function createAccountLists({ keys, ask, listByTime, confirmAbsence }: Connection) {
  /** The last active day is stored apart, so that a use does not write the account. */
  async function withActivity(account: Account): Promise<ListedAccount> {
    const score = await ask((client) => client.zscore(keys.activeDays, account.id))
    const lastActiveDay = score === null ? await lastKeyUseDay(account.id) : Number(score)
    return { ...account, lastActiveDay }
  }

  /** For accounts that were used only before active days were stored. */
  async function lastKeyUseDay(id: string): Promise<number | undefined> {
    const uses = await ask((client) => client.hvals(keys.keyUsesOf(id)))
    return uses.length === 0 ? undefined : dayOf(Math.max(...uses.map((use) => Number.parseInt(use, 10))))
  }

  async function byTime({ order, after, limit, filter }: FilterPage): Promise<Candidates> {
    const count = matchesEvery(filter) ? Math.min(limit, scannedMax) : scannedMax
    const from = after && { member: after.id, at: Number(after.key) }
    const listed = await listByTime(keys.ids, {
      after: from,
      limit: count,
      order: order === 'oldest' ? 'oldest' : 'newest',
    })
    const last = listed.length < count ? undefined : listed.at(-1)
    return {
      entries: listed.map(({ member }) => ({ id: member })),
      next: last && { key: last.at, id: last.member },
    }
  }

  /** The e-mails are among the terms of the index, in their order. */
  async function byEmail({ after }: FilterPage): Promise<Candidates> {
    const start = after === undefined ? '-' : `(${after.key}\0${after.id}`
    const found = await ask((client) => client.zrangebylex(keys.terms, start, '+', 'LIMIT', 0, entriesMax))
    if (found.length === 0) await confirmAbsence()
    const entries = found.map((text) => {
      const [term = '', id = ''] = text.split('\0')
      return { term, id }
    })
    const emails = entries.filter(({ term }) => term.includes('@'))
    const lastEmail = emails.length > scannedMax ? emails[scannedMax - 1] : undefined
    const last = lastEmail ?? (entries.length < entriesMax ? undefined : entries.at(-1))
    return {
      entries: emails.slice(0, scannedMax),
      // Behind all entries of a term that is no e-mail, as a domain may have a million.
      next: last && { key: last.term, id: last.term.includes('@') ? last.id : idEnd },
    }
  }

  async function filterAccounts(page: FilterPage): Promise<FilteredAccounts> {
    const { filter, order, limit } = page
    const { entries, next } = order === 'email' ? await byEmail(page) : await byTime(page)
    const mayPass = createQuickFilter(filter)
    const texts = await Promise.all(entries.map(({ id }) => ask((client) => client.get(keys.account(id)))))
    const passing = texts.flatMap((text, index) => {
      if (text === null || !mayPass(text)) return []
      const account = parseAccount(text)
      const term = entries[index]?.term
      const isListed = term === undefined || term === emailKey(account.email)
      return isListed && passesWithoutActivity(account, filter) ? [account] : []
    })
    const asked = asksForActivity(filter) ? passing : passing.slice(0, limit)
    const found = (await Promise.all(asked.map(withActivity))).filter((each) => passesActivity(each, filter))
    const accounts = found.slice(0, limit)
    const last = accounts.length === limit ? accounts.at(-1) : undefined
    return { accounts, next: last ? positionOf(last, order) : next }
  }

  return {
    withActivity,
    filterAccounts,
    count: async () => {
      const count = await ask((client) => client.zcard(keys.ids))
      return count === 0 ? ((await confirmAbsence()) ?? 0) : count
    },
  }
}

/** Whether a text may be that of an account that passes, which takes a tenth of the time of parsing it. */
function createQuickFilter(filter: AccountFilter): (text: string) => boolean {
  const { role, plan, isDisabled } = filter
  const exact = Object.entries({ role, plan: plan ?? undefined, isDisabled })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `"${name}":${JSON.stringify(value)}`)
  const needle = needleOf(filter)
  const lower = needle === undefined ? undefined : JSON.stringify(needle).slice(1, -1)
  return (text) =>
    exact.every((part) => text.includes(part)) && (lower === undefined || text.toLowerCase().includes(lower))
}
