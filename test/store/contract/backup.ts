import type { Test } from 'tap'
import { verifyAudit } from '#accounts/verify-audit.ts'
import type { StoreRecord } from '#store/backup/records.ts'
import { changesMax } from '#store/changes.ts'
import {
  backupText,
  checkText,
  contentOf,
  fill,
  inOneBatch,
  recordsOf,
  restoreText,
} from '../backup-samples.ts'
import { type NewPlace, runCase } from '../place.ts'
import { newAuditEntry } from '../portal-samples.ts'
import {
  createAccount,
  hour,
  newAccount,
  newSecretKey,
  newSigningKey,
  now,
  plain,
  second,
  useOf,
} from '../samples.ts'

/** Backups, and what is restored of them; those from one driver to another are in backup.test.ts. */
export function runBackupContract(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'what is restored is all that was backed up, and goes on',
    async (t, _place, store) => {
      const filled = await fill(store)
      const content = await contentOf(store, filled)
      const text = await backupText(store)
      t.strictSame(plain(await contentOf(store, filled)), plain(content), 'a backup changes nothing')

      const again = await (await newPlace(t)).open()
      t.strictSame(await restoreText(again, text), { kind: 'restored' })
      t.strictSame(plain(await contentOf(again, filled)), plain(content))
      t.match(await verifyAudit(again), { kind: 'intact', entries: content.audit.length })

      const [session = ''] = filled.sessionIds
      const use = useOf({ id: session }, { generation: 2, now: now + 20 * second })
      t.match(await again.rotateSession(use), { kind: 'current', session: { generation: 3 } })
      t.match(await again.rotateSession(use), { kind: 'current' }, 'the same token within the grace')
      const [ada] = filled.accounts
      const reset = await again.resetSecretKey(
        ada?.id ?? '',
        { secretKey: newSecretKey(), graceUntil: undefined },
        newAuditEntry({ at: now + hour }),
      )
      t.equal(reset?.revision, (ada?.revision ?? 0) + 1)
      t.strictSame(await again.updateAccount(ada?.id ?? '', { role: 'User' }), { kind: 'last-admin' })
      t.equal(await createAccount(again, { email: 'ada@example.com' }).catch(() => 'taken'), 'taken')
      t.match(await verifyAudit(again), { kind: 'intact', entries: content.audit.length + 1 })
      t.equal(await again.deleteAccount(filled.accounts[1]?.id ?? ''), 'deleted')
      const later = await backupText(again)
      const third = await (await newPlace(t)).open()
      t.match(await restoreText(third, later), { kind: 'restored' })
      t.equal((await third.listAccounts({ after: undefined, limit: 9 })).length, 2)
    },
  )

  runCase(
    t,
    newPlace,
    'receivers of events get nothing of an audit log that was restored',
    async (t, _place, store) => {
      await store.appendAudit(newAuditEntry())
      const text = await backupText(store)
      const again = await (await newPlace(t)).open()
      await again.replaceReceiver({ id: 'a', before: '', after: '{"position":""}' })
      t.strictSame(await restoreText(again, text), { kind: 'restored' })
      t.strictSame([...(await again.readReceivers())], [])
      t.equal((await again.readAuditAfter({ after: '', limit: 10 })).length, 1)
    },
  )

  runCase(t, newPlace, 'an empty store can be backed up and restored', async (t, _place, store) => {
    const text = await backupText(store)
    const place = await newPlace(t)
    const again = await place.open()
    t.strictSame(await restoreText(again, text), { kind: 'restored' })
    t.strictSame(await again.listAccounts({ after: undefined, limit: 1 }), [])
    await createAccount(again)
  })

  runCase(t, newPlace, 'a store that is not empty is left as it is', async (t, _place, store) => {
    const text = await backupText(store)
    for (const write of [
      () => store.addSigningKey(newSigningKey()),
      () => createAccount(store),
      () => store.blockSubject({ principalId: 'corp:1', blockedAt: now }),
    ]) {
      await write()
      const before = await recordsOf(store)
      t.equal((await restoreText(store, text)).kind, 'used')
      t.strictSame(await recordsOf(store), before)
    }
  })

  runCase(
    t,
    newPlace,
    'a process that has read the change log drops all that it knows after a restore',
    async (t, _place, store) => {
      await createAccount(store)
      for (let change = 0; change < 3; change++) await store.addSigningKey(newSigningKey())
      const text = await backupText(store)
      const target = await newPlace(t)
      const running = await target.open()
      const { head } = await running.readChanges(undefined)
      await restoreText(await target.open(), text)
      const reading = await running.readChanges(head)
      t.equal(reading.changes, undefined)
      t.ok(reading.head > 3 + changesMax, 'no position of before is used again')
      const next = await running.addSigningKey(newSigningKey())
      t.ok(next)
      t.equal((await running.readChanges(reading.head)).changes?.length, 1)
    },
  )

  runCase(t, newPlace, 'a restore that fails leaves an empty store', async (t, _place, store) => {
    const filled = await fill(store)
    const text = await backupText(store)
    const { records } = await checkText(text)
    const twice = async function* () {
      yield* records()
      for await (const batch of records()) yield batch.filter(({ kind }) => kind === 'account')
    }
    const stopped = async function* () {
      yield* records()
      throw new Error('stopped')
    }
    const place = await newPlace(t)
    const again = await place.open()
    await t.rejects(again.restore(stopped()), { message: 'stopped' })
    t.strictSame(await again.listAccounts({ after: undefined, limit: 1 }), [])
    await t.rejects(again.restore(twice()), { name: 'OperatorError', message: /several accounts with/ })
    t.strictSame(await again.listSigningKeys(), [])
    t.strictSame(await again.findSession(filled.sessionIds[0] ?? ''), undefined)
    t.strictSame(await verifyAudit(again), { kind: 'intact', entries: 0, unchained: 0 })
    t.strictSame(await restoreText(await place.open(), text), { kind: 'restored' }, 'and the next succeeds')
    t.equal((await again.listAccounts({ after: undefined, limit: 9 })).length, filled.accounts.length)
  })

  runCase(
    t,
    newPlace,
    'a backup beside writers has every write from before it, and is consistent',
    async (t, place, store) => {
      const accounts = Array.from({ length: 450 }, () => newAccount())
      await store.createAccounts(accounts)
      const writer = await place.open()
      const [first, second] = accounts
      if (!first || !second) return
      await writer.resetSecretKey(first.id, {
        secretKey: newSecretKey({ id: 'before' }),
        graceUntil: undefined,
      })
      const taken: StoreRecord['kind'][] = []
      let batches = 0
      const records = []
      for await (const batch of store.backUp()) {
        records.push(...batch)
        batches++
        if (batches > 6) continue
        // The e-mail of one goes to another, whichever of them was read already.
        const email = `freed-${batches}@example.com`
        await writer.updateAccount(first.id, { email }, newAuditEntry())
        await writer.updateAccount(second.id, { email: `taken-${batches}@example.com` }, newAuditEntry())
        await writer.updateAccount(first.id, { email: `other-${batches}@example.com` }, newAuditEntry())
        await writer.updateAccount(second.id, { email }, newAuditEntry())
        const gone = accounts[batches + 1]
        if (gone) await writer.deleteAccount(gone.id, newAuditEntry())
        for (const { kind } of batch) if (kind !== 'gone' && kind !== 'changed') taken.push(kind)
      }
      const again = await (await newPlace(t)).open()
      t.strictSame(await again.restore(inOneBatch(await settled(records))), { kind: 'restored' })
      t.equal((await again.findAccount(first.id))?.secretKeys[0]?.id, 'before')
      t.match(await verifyAudit(again), { kind: 'intact' })
      const restored = await again.listAccounts({ after: undefined, limit: 1_000 })
      t.ok(restored.length >= accounts.length - 6 && restored.length <= accounts.length)
      t.ok(taken.length > 0)
    },
  )
}

/** As the command reads them. */
async function settled(records: Awaited<ReturnType<typeof recordsOf>>): Promise<readonly StoreRecord[]> {
  const found: StoreRecord[] = []
  const text = await backupText({
    backUp: async function* () {
      yield records
    },
    restore: () => Promise.reject(new Error('this store is only read')),
  })
  for await (const batch of (await checkText(text)).records()) found.push(...batch)
  return found
}
