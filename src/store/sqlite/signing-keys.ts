import { signingKeyOf, signingKeyRecord } from '../backup/records.ts'
import type { SigningKeyStore, StoredSigningKey } from '../signing-keys.ts'
import type { Database } from './database.ts'
import { insertOf, selectOf, toRecord, toRow } from './rows.ts'
import type { Writer } from './writer.ts'

const keysChange = { kind: 'signing-keys' } as const

export function createSigningKeyStore(
  { prepare, read }: Database,
  { writeAudited, changeRow }: Writer,
): SigningKeyStore {
  const select = prepare(selectOf('signingKey', 'ORDER BY created_at, kid'))
  const countOf = prepare('SELECT count(*) AS count FROM signing_keys WHERE algorithm = ?')
  const insert = prepare(insertOf('signingKey'))
  const reseal = prepare('UPDATE signing_keys SET sealed = ? WHERE kid = ? AND sealed = ?')
  const remove = prepare('DELETE FROM signing_keys WHERE kid = ?')

  function add(key: StoredSigningKey, onlyIfNoSigner: boolean): boolean {
    if (onlyIfNoSigner && Number(countOf.get(key.algorithm)?.count) > 0) return false
    insert.run(toRow(signingKeyRecord(key)))
    return true
  }

  return {
    listSigningKeys: async () =>
      read(() => select.all().map((row) => signingKeyOf(toRecord('signingKey', row)))),
    addSigningKey: (key, { onlyIfNoSigner = false, audit } = {}) =>
      writeAudited(
        () => add(key, onlyIfNoSigner),
        (isAdded) => (isAdded ? [keysChange] : undefined),
        audit,
      ),
    resealSigningKey: (kid, { before, after }, audit) =>
      changeRow(() => reseal.run(after, kid, before), keysChange, audit),
    retireSigningKey: (kid, audit) => changeRow(() => remove.run(kid), keysChange, audit),
  }
}
