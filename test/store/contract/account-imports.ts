import type { Test } from 'tap'
import type { AccountBatch } from '#store/accounts.ts'
import { type NewPlace, runCase } from '../place.ts'
import { createAccount, newAccount } from '../samples.ts'

/** The contract of importAccounts: accounts that come in batches are created all, or none. */
export function accountImportCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'accounts of many batches are all created', async (t, _place, store) => {
    const accounts = Array.from({ length: 30 }, () => newAccount())
    t.strictSame(await store.importAccounts(batchesOf([accounts.slice(0, 12), [], accounts.slice(12)])), {
      kind: 'created',
    })
    t.equal((await store.listAccounts({ after: undefined, limit: 50 })).length, 30)
    const [first] = accounts
    t.equal((await store.findAccountByEmail(first?.email ?? ''))?.id, first?.id)
    t.strictSame(await store.importAccounts(batchesOf([])), { kind: 'created' })
  })

  runCase(
    t,
    newPlace,
    'if a later batch has a taken e-mail no batch is created',
    async (t, _place, store) => {
      const taken = await createAccount(store, { email: 'taken@example.com' })
      const free = [newAccount({ email: 'one@example.com' }), newAccount({ email: 'two@example.com' })]
      const wrong = [newAccount({ email: 'three@example.com' }), newAccount({ email: 'TAKEN@example.com' })]
      t.strictSame(await store.importAccounts(batchesOf([free, wrong])), {
        kind: 'exists',
        emails: ['TAKEN@example.com'],
      })
      const left = await store.listAccounts({ after: undefined, limit: 50 })
      t.strictSame(
        left.map(({ id }) => id),
        [taken.id],
      )
      for (const { id, email } of free) {
        t.equal(await store.findAccount(id), undefined)
        t.equal(await store.findAccountByEmail(email), undefined)
      }
      t.strictSame(await store.createAccounts(free), { kind: 'created' }, 'their e-mails are free again')
    },
  )

  runCase(t, newPlace, 'batches cannot share an e-mail', async (t, _place, store) => {
    const twins = [newAccount({ email: 'ada@example.com' }), newAccount({ email: 'ADA@example.com' })]
    t.equal((await store.importAccounts(batchesOf(twins.map((one) => [one])))).kind, 'exists')
    t.strictSame(await store.listAccounts({ after: undefined, limit: 10 }), [])
  })

  runCase(
    t,
    newPlace,
    'if the batches fail nothing is created, and that error is thrown',
    async (t, _place, store) => {
      const failure = new Error('the file ends early')
      async function* failing(): AsyncGenerator<AccountBatch> {
        yield* batchesOf([[newAccount()], [newAccount()]])
        throw failure
      }
      const thrown = await store.importAccounts(failing()).catch((error: unknown) => error)
      t.equal(thrown, failure)
      t.strictSame(await store.listAccounts({ after: undefined, limit: 10 }), [])
      await createAccount(store, {})
      t.equal(
        (await store.listAccounts({ after: undefined, limit: 10 })).length,
        1,
        'the store can be written',
      )
    },
  )

  runCase(t, newPlace, 'a write beside an import is not lost with it', async (t, _place, store) => {
    const other = newAccount({ email: 'other@example.com' })
    let written: Promise<unknown> | undefined
    async function* failing(): AsyncGenerator<AccountBatch> {
      yield* batchesOf([[newAccount()]])
      written = store.createAccounts([other])
      throw new Error('the file ends early')
    }
    await t.rejects(store.importAccounts(failing()))
    t.strictSame(await written, { kind: 'created' })
    const left = await store.listAccounts({ after: undefined, limit: 10 })
    t.strictSame(
      left.map(({ id }) => id),
      [other.id],
    )
  })
}

async function* batchesOf(
  batches: readonly (readonly ReturnType<typeof newAccount>[])[],
): AsyncGenerator<AccountBatch> {
  for (const accounts of batches) yield { accounts, audit: [] }
}
