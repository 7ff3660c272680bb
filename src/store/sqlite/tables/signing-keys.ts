import type { StoredSigningKey } from '../../signing-keys.ts'
import type { Reseal } from '../../stored-key.ts'
import type { Database } from '../database.ts'

/** The signing_keys table. Every function is to be called within a read or a write. */
export function openSigningKeyTable({ prepare }: Database) {
  const select = prepare('SELECT * FROM signing_keys ORDER BY created_at, kid')
  const countOf = prepare('SELECT count(*) AS count FROM signing_keys WHERE algorithm = ?')
  const insert = prepare(
    'INSERT INTO signing_keys (kid, algorithm, sealed, public_key, created_at, signs_from) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const reseal = prepare('UPDATE signing_keys SET sealed = ? WHERE kid = ? AND sealed = ?')
  const remove = prepare('DELETE FROM signing_keys WHERE kid = ?')

  function add(key: StoredSigningKey, unless: 'signer' | undefined): boolean {
    if (unless === 'signer' && Number(countOf.get(key.algorithm)?.count) > 0) return false
    insert.run(key.kid, key.algorithm, key.sealed, key.publicKey ?? null, key.createdAt, key.signsFrom)
    return true
  }

  return {
    list: () => select.all().map(toKey),
    add,
    reseal: (kid: string, { before, after }: Reseal) => Number(reseal.run(after, kid, before).changes) > 0,
    remove: (kid: string) => Number(remove.run(kid).changes) > 0,
  }
}

function toKey(row: Record<string, unknown>): StoredSigningKey {
  const { sealed, public_key: publicKey } = row
  return {
    kid: String(row.kid),
    algorithm: String(row.algorithm),
    sealed: sealed instanceof Uint8Array ? sealed : new Uint8Array(),
    publicKey: typeof publicKey === 'string' ? publicKey : undefined,
    createdAt: Number(row.created_at),
    signsFrom: Number(row.signs_from),
  }
}
