import type { SigningKeyStore, StoredSigningKey } from '../signing-keys.ts'
import { bytesOf } from './account-row.ts'
import type { Database } from './database.ts'
import { ifDone, type Writer } from './writer.ts'

const changedKeys = ifDone({ kind: 'signing-keys' })

export function createSigningKeyStore(
  { prepare, read }: Database,
  { writeAudited }: Writer,
): SigningKeyStore {
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
    listSigningKeys: async () => read(() => select.all().map(toKey)),
    addSigningKey: (key, unless, audit) => writeAudited(() => add(key, unless), changedKeys, audit),
    resealSigningKey: (kid, { before, after }, audit) =>
      writeAudited(() => reseal.run(after, kid, before).changes === 1, changedKeys, audit),
    retireSigningKey: (kid, audit) => writeAudited(() => remove.run(kid).changes === 1, changedKeys, audit),
  }
}

function toKey(row: Record<string, unknown>): StoredSigningKey {
  const { sealed, public_key: publicKey } = row
  return {
    kid: String(row.kid),
    algorithm: String(row.algorithm),
    sealed: bytesOf(sealed),
    publicKey: typeof publicKey === 'string' ? publicKey : undefined,
    createdAt: Number(row.created_at),
    signsFrom: Number(row.signs_from),
  }
}
