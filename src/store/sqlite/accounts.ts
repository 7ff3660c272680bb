import { setImmediate } from 'node:timers/promises'
import { accountsByReplacing, type Replace } from '../account-changes/by-replacing.ts'
import type { AccountBatch, AccountCreation, AccountStore } from '../accounts.ts'
import { accountChange } from '../changes.ts'
import { search, type TermIndex } from '../search.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import type { Writer } from './writer.ts'

/** @returns with `replace`, by which other slices change an account */
export function openAccounts(
  { read, write, writeLong }: Database,
  { writeChange, writeUncached }: Writer,
  { accounts, sessions, portalSessions, keyUses, usage, audit: auditLog }: Tables,
): AccountStore & { readonly replace: Replace } {
  const termIndex: TermIndex = {
    find: async (prefix, after, limit) => read(() => accounts.findTerms(prefix, after, limit)),
    load: async (ids) => read(() => ids.map(accounts.find)),
  }

  const replace: Replace = (id, transform, audit) =>
    writeChange(
      () => accounts.replace(id, transform),
      ({ kind }) => accountChange(id)(kind === 'updated'),
      audit,
    )

  function appendBatch({ accounts: created, audit }: AccountBatch): AccountCreation {
    const creation = accounts.create(created)
    if (creation.kind === 'created') auditLog.append(audit)
    return creation
  }

  return {
    createAccounts: (created, audit) =>
      writeUncached(
        () => accounts.create(created),
        ({ kind }) => kind === 'created',
        audit,
      ),
    importAccounts: (batches) =>
      writeLong<AccountCreation>(async () => {
        for await (const batch of batches) {
          const creation = read(() => appendBatch(batch))
          if (creation.kind === 'exists') return { end: 'undo', result: creation }
        }
        return { end: 'commit', result: { kind: 'created' } }
      }),
    findAccount: async (id) => read(() => accounts.find(id)),
    findAccountByEmail: async (email) => read(() => accounts.findByEmail(email)),
    listAccounts: async (page) => read(() => accounts.list(page)),
    searchAccounts: (page) => search(termIndex, page),
    ...accountsByReplacing(replace),
    deleteAccount: async (id, audit) => {
      let hasMore = false
      const outcome = await writeChange(
        () => {
          const removed = accounts.remove(id)
          if (removed === 'last-admin') return removed
          for (const table of [portalSessions, keyUses, usage]) table.removeAll(id)
          hasMore = sessions.removeSome(id)
          return removed
        },
        (removed) => accountChange(id)(removed === 'deleted'),
        audit,
      )
      // Sessions of a deleted account are invalid; leftovers of a crash are removed later.
      while (hasMore) {
        await setImmediate()
        hasMore = await write(() => sessions.removeSome(id))
      }
      return outcome
    },
    replace,
  }
}
