import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { KeyImport } from '#store/keys.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { createAccount, hour, newSecretKey, now, plain, withoutTimes } from '../samples.ts'

/** The import of a key for an account. */
export function newImport(
  { id: accountId }: { readonly id: string },
  name = 'old',
  changes: Partial<SecretKey> = {},
): KeyImport {
  const secretKey = { ...newSecretKey({ name, sealed: undefined, ...changes }), isImported: true } as const
  return { accountId, secretKey, keysMax: 3 }
}

/** The contract of ImportedKeyStore. */
export function runImportedKeyContract(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'an imported key is found by its digest', async (t, place, store) => {
    const account = await createAccount(store)
    t.equal(await store.hasImportedKeys(), false)
    const imported = newImport(account, 'old', { expiresAt: now + hour, scopes: ['a'] })
    t.strictSame(await store.importSecretKeys([imported]), ['added'])
    t.equal(await store.findImportedKey(imported.secretKey.digest), account.id)
    t.equal(await store.findImportedKey(randomBytes(32)), undefined)
    t.equal(await store.hasImportedKeys(), true)
    const expected = { ...account, secretKeys: [...account.secretKeys, imported.secretKey], revision: 2 }
    t.strictSame(plain(await store.findAccount(account.id)), plain(expected))
    const again = await place.open()
    t.equal(await again.findImportedKey(imported.secretKey.digest), account.id)
  })

  runCase(t, newPlace, 'an imported key is added by itself, to one account', async (t, _place, store) => {
    const [one, other] = [await createAccount(store), await createAccount(store)]
    const { secretKey } = newImport(one, 'first')
    const add = ({ id }: { readonly id: string }, name: string) =>
      store.addSecretKey(id, { secretKey: { ...secretKey, name }, keysMax: 3 })
    t.equal(await add(one, 'first'), 'added')
    t.equal(await store.findImportedKey(secretKey.digest), one.id)
    t.equal(await add(one, 'again'), 'present')
    t.equal(await add(other, 'stolen'), 'taken')
    t.equal((await store.findAccount(other.id))?.secretKeys.length, 1)
    t.equal(await store.findImportedKey(secretKey.digest), one.id)
  })

  runCase(t, newPlace, 'each key of a batch is added or refused by itself', async (t, _place, store) => {
    const [one, other] = [await createAccount(store), await createAccount(store)]
    const first = newImport(one, 'first')
    const { digest } = first.secretKey
    t.strictSame(
      await store.importSecretKeys([
        first,
        newImport(one, 'first'),
        newImport(one, 'again', { digest }),
        newImport(other, 'stolen', { digest }),
        newImport({ id: 'nobody' }),
        newImport(one, 'second'),
        newImport(one, 'third'),
        newImport(other, 'first'),
      ]),
      ['added', 'exists', 'present', 'taken', 'unknown', 'added', 'too-many', 'added'],
    )
    const namesOf = async (id: string) => (await store.findAccount(id))?.secretKeys.map(({ name }) => name)
    t.strictSame(await namesOf(one.id), ['default', 'first', 'second'])
    t.strictSame(await namesOf(other.id), ['default', 'first'])
    t.equal(await store.findImportedKey(digest), one.id)
    t.strictSame(await store.importSecretKeys([]), [])
  })

  runCase(t, newPlace, 'the change log names each account that gets keys once', async (t, _place, store) => {
    const [one, other] = [await createAccount(store), await createAccount(store)]
    const { head } = await store.readChanges(undefined)
    await store.importSecretKeys([newImport(one), newImport(other, 'old'), newImport({ id: 'nobody' })])
    const { changes } = withoutTimes(await store.readChanges(head)) as { changes: { accountId: string }[] }
    t.strictSame(changes.map(({ accountId }) => accountId).toSorted(), [one.id, other.id].toSorted())
    t.strictSame(await store.importSecretKeys([newImport(one), newImport({ id: 'nobody' })]), [
      'exists',
      'unknown',
    ])
    t.equal((await store.readChanges(head)).changes?.length, 2, 'nothing is logged where nothing changes')
  })

  runCase(
    t,
    newPlace,
    'a revoked key leaves the index, and may then be imported for another account',
    async (t, _place, store) => {
      const [one, other] = [await createAccount(store), await createAccount(store)]
      const [key, kept] = [newImport(one), newImport(one, 'kept')]
      await store.importSecretKeys([key, kept])
      const { digest } = key.secretKey
      await store.revokeSecretKey(one.id, { name: 'old', now, graceUntil: now + hour })
      t.equal(await store.findImportedKey(digest), one.id, 'it is found during its overlap')
      await store.revokeSecretKey(one.id, { name: 'old', now, graceUntil: undefined })
      t.equal(await store.findImportedKey(digest), undefined)
      t.equal(await store.findImportedKey(kept.secretKey.digest), one.id)
      t.strictSame(await store.importSecretKeys([newImport(other, 'old', { digest })]), ['added'])
      t.equal(await store.findImportedKey(digest), other.id)
    },
  )

  runCase(t, newPlace, 'the keys of a deleted account leave the index', async (t, _place, store) => {
    const [one, other] = [await createAccount(store), await createAccount(store)]
    const [gone, kept] = [newImport(one), newImport(other)]
    await store.importSecretKeys([gone, kept])
    await store.deleteAccount(one.id)
    t.equal(await store.findImportedKey(gone.secretKey.digest), undefined)
    t.equal(await store.findImportedKey(kept.secretKey.digest), other.id)
    await store.revokeSecretKey(other.id, { name: 'old', now, graceUntil: undefined })
    t.equal(await store.hasImportedKeys(), false)
  })

  runCase(t, newPlace, 'one key imported for two accounts at once goes to one', async (t, place, store) => {
    const [one, other] = [await createAccount(store), await createAccount(store)]
    const [first, second] = await openMany(place, 2)
    const { digest } = newSecretKey()
    const outcomes = await Promise.all([
      first?.importSecretKeys([newImport(one, 'old', { digest })]),
      second?.importSecretKeys([newImport(other, 'old', { digest })]),
    ])
    t.strictSame(outcomes.flat().toSorted(), ['added', 'taken'])
    const holder = await store.findImportedKey(digest)
    t.equal(holder, outcomes[0]?.[0] === 'added' ? one.id : other.id)
  })
}
