import { keyDigestsOf } from '../key-digests.ts'
import type { KeyUse, NotedKeyUse } from '../key-use.ts'
import type { Account } from '../store.ts'
import type { Database } from './database.ts'

/** The key_uses table. Every function is to be called within a read or a write. */
export function openKeyUses({ prepare }: Database, findAccount: (id: string) => Account | undefined) {
  const upsert = prepare(
    `INSERT INTO key_uses (account_id, digest, at, address, scheme) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET at = excluded.at, address = excluded.address, scheme = excluded.scheme
     WHERE excluded.at > at`,
  )
  const select = prepare('SELECT * FROM key_uses WHERE account_id = ?')
  const remove = prepare('DELETE FROM key_uses WHERE account_id = ? AND digest = ?')
  const removeAll = prepare('DELETE FROM key_uses WHERE account_id = ?')

  function find(accountId: string): ReadonlyMap<string, KeyUse> {
    return new Map(select.all(accountId).map((row) => [String(row.digest), toUse(row)]))
  }

  /** Only of keys that the account has now; what is there of others goes. */
  function note(use: NotedKeyUse): void {
    const account = findAccount(use.accountId)
    if (!account) return
    const digests = keyDigestsOf(account)
    if (!digests.includes(use.digest)) return
    const known = find(use.accountId)
    upsert.run(use.accountId, use.digest, use.at, use.address, use.scheme)
    for (const digest of known.keys()) {
      if (!digests.includes(digest)) remove.run(use.accountId, digest)
    }
  }

  return { find, note, removeAll: (accountId: string) => void removeAll.run(accountId) }
}

function toUse(row: Record<string, unknown>): KeyUse {
  return {
    at: Number(row.at),
    address: String(row.address),
    scheme: row.scheme === 'accessToken' ? 'accessToken' : 'secretKey',
  }
}
