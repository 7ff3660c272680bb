import { accountsByReplacing, type Replace, type Replacement } from '../account-changes/by-replacing.ts'
import { search, type TermIndex, termsOf } from '../account-search.ts'
import {
  type Account,
  type AccountReader,
  type AccountStore,
  adminRole,
  emailKey,
  isActiveAdmin,
  type ListedAccount,
  type TermEntry,
} from '../accounts.ts'
import type { AuditEntry } from '../audit-entry.ts'
import { indexChange } from '../keys.ts'
import { identityChange } from '../portal-access.ts'
import { createAccountLists } from './account-lists.ts'
import { accountText, parseAccount } from './data-layout.ts'
import { importAccounts } from './import-accounts.ts'
import type { Connection, TimedMember } from './open-connection.ts'
import { forgetSessions } from './open-session-index.ts'
import { loadScript } from './scripts.ts'
import { storeFormat } from './store-identity.ts'
import { usageKeysOf } from './usage.ts'

const createScript = loadScript('create-accounts', { isLogged: true, isAudited: true })
const saveScript = loadScript('save-account', { isLogged: true, isAudited: true })
const deleteScript = loadScript('delete-account', { isLogged: true, isAudited: true })

const readAtOnce = 200

/** What other slices need of the accounts. */
export interface AccountAccess extends Pick<AccountReader, 'findAccount'> {
  readonly replace: Replace
}

/**
 * Accounts as texts, and indexes of their e-mails, their identities at OpenID providers, their IDs, and the terms they
 * are searched by.
 */
export function createAccountStore(connection: Connection): AccountStore & AccountAccess {
  const { keys, ask, runAudited, listByTime, notify, confirmAbsence } = connection
  const lists = createAccountLists(connection)

  async function find(id: string): Promise<Account | undefined> {
    const text = await ask((client) => client.get(keys.account(id)))
    return text === null ? confirmAbsence() : parseAccount(text)
  }

  async function findListed(id: string): Promise<ListedAccount | undefined> {
    const account = await find(id)
    return account && lists.withActivity(account)
  }

  const createAccounts: AccountStore['createAccounts'] = async (accounts, audit) => {
    await confirmAbsence()
    const taken = await runAudited(
      createScript,
      [keys.emails, keys.ids, keys.terms, keys.format, ...accounts.map(({ id }) => keys.account(id))],
      [storeFormat, ...accounts.flatMap(newAccountArgs)],
      audit,
    )
    if (!Array.isArray(taken) || taken.length === 0) return { kind: 'created' }
    const indexes = new Set(taken)
    return {
      kind: 'exists',
      emails: accounts.filter((_, index) => indexes.has(index)).map(({ email }) => email),
    }
  }

  /** Reads the account, applies `transform`, and saves the result; again if it was changed in between. */
  const replace: Replace = async (id, transform, audit) => {
    for (;;) {
      const account = await find(id)
      if (!account) return { kind: 'unknown' }
      const next = transform(account)
      if (!next) return { kind: 'refused' }
      const replacement = await save(account, next, audit)
      if (replacement) return replacement
    }
  }

  /** @returns undefined where this account, or the other Admin that is needed, has been changed in between */
  async function save(
    account: Account,
    next: Account,
    audit: AuditEntry | undefined,
  ): Promise<Replacement | undefined> {
    const { id } = account
    const { added, removed } = indexChange(account, next)
    const identities = identityChange(account, next)
    const losesAdmin = isActiveAdmin(account) && !isActiveAdmin(next)
    const otherAdmin = losesAdmin ? await findOtherAdmin(id, audit) : id
    if (otherAdmin === undefined) return { kind: 'last-admin' }
    const outcome = await runAudited(
      saveScript,
      [
        keys.emails,
        keys.account(id),
        keys.terms,
        keys.importedKeys,
        keys.identities,
        keys.account(otherAdmin),
      ],
      [
        id,
        account.revision,
        emailKey(account.email),
        emailKey(next.email),
        accountText(next),
        Number(termsOf(account).join('\n') !== termsOf(next).join('\n')),
        added.join(' '),
        removed.join(' '),
        ...[identities.removed, identities.added].map((changed) => JSON.stringify(changed)),
        losesAdmin ? adminRole : '',
      ],
      audit,
    )
    if (outcome === 'exists' || outcome === 'taken') return replacements[outcome]
    if (outcome === 'changed' || outcome === 'last-admin') return undefined
    notify({ kind: 'account', accountId: id }, outcome)
    if (next.sessionEpoch !== account.sessionEpoch) await dropIndex(account)
    return { kind: 'updated', account: next }
  }

  /**
   * Another Admin who is not disabled, for a script after which this account is no Admin. The script gets both accounts
   * as keys, and checks atomically that the other one is still an Admin: of two who demote each other, only one
   * succeeds. So no count of Admins has to be kept in step with the accounts.
   * @param audit the actor usually is one, so that nothing has to be searched
   * @returns its ID; undefined = there is none
   */
  async function findOtherAdmin(id: string, audit?: AuditEntry): Promise<string | undefined> {
    const isOther = (account: Account | undefined) =>
      account !== undefined && account.id !== id && isActiveAdmin(account)
    const actorId = audit?.actor.kind === 'account' ? audit.actor.id : undefined
    if (actorId !== undefined && isOther(await find(actorId))) return actorId
    for (let after: TimedMember | undefined; ; ) {
      const listed = await listByTime(keys.ids, { after, limit: readAtOnce })
      const found = (await Promise.all(listed.map(({ member }) => find(member)))).find(isOther)
      if (found || listed.length < readAtOnce) return found?.id
      after = listed.at(-1)
    }
  }

  /** Redis removes the index in the background: letting a large one expire would block it. */
  async function dropIndex({ id, sessionEpoch }: Account): Promise<void> {
    await ask((client) => client.unlink(keys.openSessionsOf(id, sessionEpoch))).catch(() => {})
  }

  /** Removes an account, and then its sessions, which are invalid without it; leftovers of a crash expire. */
  const deleteAccount: AccountStore['deleteAccount'] = async (id, audit) => {
    // If it is gone already, the script still runs and waits for the replicas, which may lag.
    const account = await find(id)
    const otherAdmin = account && isActiveAdmin(account) ? await findOtherAdmin(id, audit) : id
    if (otherAdmin === undefined) return 'last-admin'
    const outcome = await runAudited(
      deleteScript,
      [
        keys.emails,
        keys.ids,
        keys.terms,
        keys.importedKeys,
        keys.identities,
        keys.activeDays,
        keys.account(otherAdmin),
        keys.account(id),
        keys.openSessionsOf(id, account?.sessionEpoch ?? 0),
        keys.portalSessionsOf(id),
        keys.keyUsesOf(id),
        ...usageKeysOf(keys, id, Date.now()),
      ],
      [id, adminRole],
      audit,
    )
    // Since they were read, this account has become an Admin, or the other one has ceased to be one.
    if (outcome === 'last-admin') return deleteAccount(id, audit)
    if (outcome === 0) await confirmAbsence()
    notify({ kind: 'account', accountId: id }, outcome)
    await forgetSessions(connection, id)
    return outcome === 0 ? 'unknown' : 'deleted'
  }

  return {
    createAccounts,
    importAccounts: (batches) =>
      importAccounts(batches, { createAccounts, findAccount: find, deleteAccount }),
    findAccount: find,
    findAccountByEmail: async (email) => {
      const id = await ask((client) => client.hget(keys.emails, emailKey(email)))
      return id === null ? confirmAbsence() : find(id)
    },
    listAccounts: async ({ after, limit }) => {
      const from = after && { member: after.id, at: after.createdAt }
      const listed = await listByTime(keys.ids, { after: from, limit })
      const found = await Promise.all(listed.map(({ member }) => find(member)))
      return found.filter((account) => account !== undefined)
    },
    filterAccounts: lists.filterAccounts,
    countAccounts: lists.count,
    searchAccounts: (page) => search(createTermIndex(connection, findListed), page),
    ...accountsByReplacing(replace),
    deleteAccount,
    replace,
  }
}

/** The meanings of the script's outcomes that change nothing. */
const replacements = { exists: { kind: 'exists' }, taken: { kind: 'refused' } } as const

function newAccountArgs(account: Account): readonly (string | number)[] {
  const { email, id, createdAt } = account
  return [emailKey(email), id, createdAt, accountText(account), termsOf(account).join('\n')]
}

/** The index for searching accounts: `term NUL id` in a sorted set whose scores are all equal. */
function createTermIndex(
  { keys, ask, confirmAbsence }: Connection,
  find: (id: string) => Promise<ListedAccount | undefined>,
): TermIndex {
  async function findTerms(prefix: string, after: TermEntry | undefined, limit: number) {
    // As bytes: 0xff, which no text in UTF-8 has, sorts after everything that begins with the prefix.
    const end = Buffer.concat([Buffer.from(`[${prefix}`), Buffer.from([0xff])])
    const start = after === undefined ? `[${prefix}` : `(${after.term}\0${after.id}`
    const entries = await ask((client) => client.zrangebylex(keys.terms, start, end, 'LIMIT', 0, limit))
    if (entries.length === 0) await confirmAbsence()
    return entries.map(toEntry)
  }

  return { find: findTerms, load: (ids) => Promise.all(ids.map(find)) }
}

function toEntry(text: string): TermEntry {
  const end = text.indexOf('\0')
  return { term: text.slice(0, end), id: text.slice(end + 1) }
}
