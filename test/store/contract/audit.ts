import type { Test } from 'tap'
import type { FoundAudit } from '#store/audit.ts'
import type { AuditEntry } from '#store/audit-entry.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { listAudit, newAuditEntry, newDigest, newPortalSession } from '../portal-samples.ts'
import {
  createAccount,
  newAccount,
  newKey,
  newSecretKey,
  newSigningKey,
  now,
  startSession,
} from '../samples.ts'
import { auditChainCases } from './audit-chain.ts'

async function actions(store: Store): Promise<readonly string[]> {
  return (await listAudit(store, { before: undefined, limit: 100 })).map(({ action }) => action).toReversed()
}

/** Each verb that changes something, where there is something to change; in this order. */
function everyAct(
  store: Store,
  account: { readonly id: string; readonly revision: number },
  sessionId: string,
) {
  const { id } = account
  const link = { digest: newDigest(), expiresAt: now + 1_000 }
  const entry = (action: AuditEntry['action']) => newAuditEntry({ action, at: Date.now() })
  return [
    () => store.startPortalSession(newPortalSession(account), account, entry('signed-in')),
    () => store.endSession(sessionId, 'revoked', entry('session-ended')),
    () => store.endSessions(id, entry('sessions-ended')),
    () => store.updateAccount(id, { role: 'Auditor' }, entry('account-updated')),
    () =>
      store.resetSecretKey(
        id,
        { secretKey: newSecretKey(), graceUntil: now + 1e6 },
        entry('secret-key-reset'),
      ),
    () => store.endOverlap(id, now, entry('secret-key-overlap-ended')),
    () => store.resetApiKey(id, { apiKey: newKey() }, entry('api-key-reset')),
    () => store.setSetupLink(id, link, entry('setup-link-created')),
    () =>
      store.setPassword(id, { password: 'p', proof: undefined, endsSessions: true }, entry('password-set')),
    () => store.setEmailLink(id, { ...link, email: 'v@example.com' }, entry('email-verification-sent')),
    () => store.redeemEmailLink(id, { digest: link.digest, now }, entry('email-verified')),
    () => store.endPortalSessions(id, entry('portal-sessions-ended')),
    () => store.deleteAccount(id, entry('account-deleted')),
  ]
}

function everyKeyAct(store: Store) {
  const entry = (action: AuditEntry['action']) => newAuditEntry({ action, at: Date.now() })
  return [
    () =>
      store.addSigningKey(newSigningKey({ kid: 'added' }), {
        onlyIfNoSigner: true,
        audit: entry('signing-key-added'),
      }),
    () => store.retireSigningKey('added', entry('signing-key-retired')),
  ]
}

/** The contract of AuditStore: what is logged, and how the log is read. */
export function runAuditContract(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'audit entries are read as they were written, newest first',
    async (t, _place, store) => {
      t.strictSame(await listAudit(store, { before: undefined, limit: 10 }), [])
      const entries = [
        newAuditEntry({ details: { role: 'Admin', graceSeconds: 5, isVerified: true } }),
        newAuditEntry({ target: undefined, actor: { kind: 'system', channel: 'system' } }),
        newAuditEntry({
          actor: {
            kind: 'account',
            channel: 'portal',
            id: 'a',
            email: '"ä\n@example.com',
            address: '::1',
          },
        }),
      ]
      for (const entry of entries) await store.appendAudit(entry)
      const read = await listAudit(store, { before: undefined, limit: 10 })
      t.strictSame(
        read.map(({ position: _, ...entry }) => entry),
        entries.toReversed(),
      )
    },
  )

  runCase(
    t,
    newPlace,
    'the audit log is read page after page, whatever is added meanwhile',
    async (t, _place, store) => {
      for (let at = 0; at < 7; at++) await store.appendAudit(newAuditEntry({ at }))
      const seen: number[] = []
      let before: string | undefined
      for (;;) {
        const page = await listAudit(store, { before, limit: 3 })
        if (page.length === 0) break
        t.ok(page.length <= 3)
        seen.push(...page.map(({ at }) => at))
        before = page.at(-1)?.position
        await store.appendAudit(newAuditEntry({ at: 99 }))
      }
      t.strictSame(seen, [6, 5, 4, 3, 2, 1, 0])
      for (const wrong of ['', 'x', '-', '0', '0-0', '(1', '1e9', '9'.repeat(40)]) {
        t.strictSame(await listAudit(store, { before: wrong, limit: 3 }), [], wrong)
      }
    },
  )

  runCase(t, newPlace, 'a filter finds all matching audit entries and no other', async (t, _place, store) => {
    const account = (id: string, email: string) =>
      ({ kind: 'account', channel: 'portal', id, email, address: '192.0.2.7' }) as const
    const signedIn = { action: 'signed-in', target: undefined } as const
    const entries = [
      newAuditEntry({ ...signedIn, at: 1, actor: account('Ab1', 'Ada@example.com') }),
      newAuditEntry({ ...signedIn, at: 2, actor: account('Cd2', 'jörg@example.com') }),
      newAuditEntry({ ...signedIn, at: 3, actor: account('Cd2', 'JÖRG@example.com') }),
      newAuditEntry({ at: 4, action: 'account-deleted', target: { id: 'Ab1', email: 'other@example.com' } }),
      newAuditEntry({
        at: 5,
        action: 'key-revealed',
        actor: { kind: 'operator', channel: 'cli', name: 'a"d\\m' },
      }),
      // What only stands somewhere in an entry is not who acted, nor what was done.
      newAuditEntry({ at: 6, action: 'account-updated', details: { email: 'ada@example.com' } }),
      newAuditEntry({ at: 7, action: 'account-updated', details: { x: '"action":"signed-in"' } }),
    ]
    for (const entry of entries) await store.appendAudit(entry)
    const find = async (action: AuditEntry['action'] | undefined, who: string | undefined) => {
      const found = await store.findAudit({ filter: { action, who }, before: undefined, limit: 10 })
      t.equal(found.before, undefined)
      return found.entries.map(({ at }) => at)
    }
    t.strictSame(await find(undefined, undefined), [7, 6, 5, 4, 3, 2, 1])
    t.strictSame(await find('signed-in', undefined), [3, 2, 1])
    t.strictSame(await find(undefined, 'aDA@example.com'), [1])
    t.strictSame(await find(undefined, 'ab1'), [4, 1])
    t.strictSame(await find('account-deleted', 'Ab1'), [4])
    t.strictSame(await find(undefined, 'Jörg@example.com'), [3, 2])
    t.strictSame(await find(undefined, 'A"D\\m'), [5])
    t.strictSame(await find(undefined, 'da@example.com'), [])
    t.strictSame(await find('setup-link-created', undefined), [])
    const findPart = async (part: string) => {
      const filter = { action: undefined, who: undefined, part }
      return (await store.findAudit({ filter, before: undefined, limit: 10 })).entries.map(({ at }) => at)
    }
    t.strictSame(await findPart('DA@example'), [1])
    t.strictSame(await findPart('RG@'), [3, 2])
    t.strictSame(await findPart('d1'), [], 'neither an ID nor an e-mail')
    t.strictSame(await findPart('b1'), [4, 1])
    t.strictSame(await findPart('"d\\'), [5])
    t.strictSame(await findPart('signed-in'), [], 'what was done is not who did it')
  })

  runCase(
    t,
    newPlace,
    'a range of times finds its audit entries, wherever they are in the log',
    async (t, _place, store) => {
      const now = Date.now()
      const minute = 60_000
      // No time is before its entry is written: Redis skips what its own clock says is later than the range.
      for (const later of [1, 3, 5, 7, 9])
        await store.appendAudit(newAuditEntry({ at: now + later * minute }))
      const find = async (from: number | undefined, until: number | undefined) => {
        const filter = { action: undefined, who: undefined, from, until }
        const { entries } = await store.findAudit({ filter, before: undefined, limit: 10 })
        return entries.map(({ at }) => (at - now) / minute)
      }
      t.strictSame(await find(undefined, undefined), [9, 7, 5, 3, 1])
      t.strictSame(await find(now + 5 * minute, undefined), [9, 7, 5], 'from is in the range')
      t.strictSame(await find(now + 3 * minute, now + 9 * minute), [7, 5, 3], 'until is not')
      t.strictSame(await find(now + 6 * minute, now + 6 * minute), [])
      t.strictSame(await find(undefined, now + 2 * minute), [1])
      t.strictSame(await find(now + 10 * minute, undefined), [])
    },
  )

  runCase(t, newPlace, 'filtered audit entries are read page after page', async (t, _place, store) => {
    for (let at = 0; at < 20; at++) {
      await store.appendAudit(newAuditEntry({ at, action: at % 3 === 0 ? 'signed-in' : 'signed-out' }))
    }
    const filter = { action: 'signed-in', who: undefined } as const
    const seen: number[] = []
    let before: string | undefined
    do {
      const page: FoundAudit = await store.findAudit({ filter, before, limit: 3 })
      t.ok(page.entries.length <= 3)
      seen.push(...page.entries.map(({ at }) => at))
      before = page.before
    } while (before !== undefined)
    t.strictSame(seen, [18, 15, 12, 9, 6, 3, 0])
    for (const wrong of ['', 'x', '-', '0', '0-0', '(1', '1e9', '9'.repeat(40)]) {
      const none = { entries: [], before: undefined }
      t.strictSame(await store.findAudit({ filter, before: wrong, limit: 3 }), none, wrong)
    }
  })

  runCase(t, newPlace, 'each change is written with its audit entry', async (t, _place, store) => {
    const account = newAccount()
    await store.createAccounts([account], [newAuditEntry({ action: 'account-created' })])
    const session = await startSession(store, account)
    const expected: string[] = ['account-created']
    for (const act of [...everyAct(store, account, session.id), ...everyKeyAct(store)]) {
      await act()
      const all = await actions(store)
      t.equal(all.length, expected.length + 1)
      expected.push(all.at(-1) ?? '')
    }
    t.equal(new Set(expected).size, 16)
    t.strictSame(await actions(store), expected)
  })

  runCase(t, newPlace, 'a change that was not made has no audit entry', async (t, _place, store) => {
    const account = newAccount()
    await store.createAccounts([account])
    await store.createAccounts([newAccount({ email: account.email })], [newAuditEntry()])
    await store.addSigningKey(newSigningKey())
    const nobody = { id: 'nobody', revision: 1 }
    for (const act of [...everyAct(store, nobody, 'none'), ...everyKeyAct(store)]) await act()
    const taken = await createAccount(store)
    await store.updateAccount(account.id, { email: taken.email }, newAuditEntry())
    const proof = { kind: 'password', password: 'not it' } as const
    await store.setPassword(account.id, { password: 'p', proof, endsSessions: true }, newAuditEntry())
    await store.endPortalSession(account.id, 'none', newAuditEntry())
    t.strictSame(await actions(store), [])
  })

  runCase(t, newPlace, 'an import has an audit entry for each account', async (t, _place, store) => {
    const accounts = Array.from({ length: 50 }, () => newAccount())
    const entries = accounts.map(({ id, email }) => newAuditEntry({ target: { id, email } }))
    await store.createAccounts(accounts, entries)
    const read = await listAudit(store, { before: undefined, limit: 100 })
    t.strictSame(
      read.map(({ target }) => target?.id),
      accounts.map(({ id }) => id).toReversed(),
    )
  })

  runCase(
    t,
    newPlace,
    'no audit entry is missing of those that many write at once',
    async (t, place, store) => {
      const stores = await openMany(place, 4)
      await Promise.all(
        Array.from({ length: 40 }, (_, at) => stores[at % 4]?.appendAudit(newAuditEntry({ at }))),
      )
      const read = await listAudit(store, { before: undefined, limit: 100 })
      t.strictSame(
        read.map(({ at }) => at).toSorted((a, b) => a - b),
        Array.from({ length: 40 }, (_, at) => at),
      )
    },
  )

  auditChainCases(t, newPlace)
}
