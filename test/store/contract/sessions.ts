import type { Test } from 'tap'
import type { Account } from '#store/accounts.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import {
  createAccount,
  hour,
  mixedIds,
  newSecretKey,
  newSession,
  now,
  orderedIds,
  second,
  startSession,
  useOf,
  visitor,
} from '../samples.ts'
import { rotationCases } from './rotation.ts'
import { sessionEndCases } from './session-ends.ts'
import { sessionLimitCases } from './session-limit.ts'
import { sessionRaceCases } from './session-races.ts'

/** The contract of SessionStore: how sessions start, go on and end. */
export function runSessionContract(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'a session is found as it was started', async (t, _place, store) => {
    const account = await createAccount(store, { sessionEpoch: 4 })
    const { id, accountId, createdAt, expiresAt, keyId } = await startSession(store, account)
    const expected = {
      id,
      accountId,
      createdAt,
      expiresAt,
      ...visitor,
      generation: 1,
      rotatedAt: createdAt,
      acknowledgedAt: createdAt,
      sessionEpoch: 4,
      keyId,
      end: undefined,
    }
    t.strictSame(await store.findSession(id), expected)
    t.strictSame(await store.listSessions(accountId, { now, limit: 1_000 }), [expected])
  })

  const changes: Record<string, (store: Store, account: Account) => Promise<unknown>> = {
    changed: (store, { id }) => store.updateAccount(id, { firstName: 'Grace' }),
    reset: (store, { id }) => store.resetSecretKey(id, { secretKey: newSecretKey(), graceUntil: now + hour }),
    disabled: (store, { id }) => store.updateAccount(id, { isDisabled: true }),
    'signed out': (store, { id }) => store.endSessions(id),
    deleted: (store, { id }) => store.deleteAccount(id),
  }
  for (const [name, change] of Object.entries(changes)) {
    runCase(
      t,
      newPlace,
      `no session starts for an account that was ${name} meanwhile`,
      async (t, _place, store) => {
        const account = await createAccount(store)
        await change(store, account)
        const session = newSession(account)
        t.equal(await store.startSession(session, account), 'account-changed')
        t.equal(await store.findSession(session.id), undefined)
        t.strictSame(await store.listSessions(account.id, { now, limit: 1_000 }), [])
      },
    )
  }

  runCase(
    t,
    newPlace,
    'no session starts for a disabled account, even with its current revision',
    async (t, _place, store) => {
      const { id } = await createAccount(store, { isDisabled: true })
      t.equal(
        await store.startSession(newSession({ id, secretKeys: [] }), { revision: 1, sessionEpoch: 1 }),
        'account-changed',
      )
      t.equal(
        await store.startSession(newSession({ id, secretKeys: [] }), { revision: 2, sessionEpoch: 1 }),
        'account-changed',
      )
    },
  )

  runCase(
    t,
    newPlace,
    'sessions are listed newest first, only those of the account',
    async (t, _place, store) => {
      const account = await createAccount(store)
      await startSession(store, await createAccount(store))
      const old = await startSession(store, account, { createdAt: now - 2 * second })
      const newest = await startSession(store, account, { createdAt: now })
      const middle = await startSession(store, account, { createdAt: now - second })
      // A rotation makes no session newer.
      await store.rotateSession(useOf(old))
      const listed = await store.listSessions(account.id, { now, limit: 1_000 })
      t.strictSame(
        listed.map(({ id }) => id),
        [newest.id, middle.id, old.id],
      )
      t.equal(listed[2]?.generation, 2)
    },
  )

  runCase(t, newPlace, 'a session is listed until it expires', async (t, _place, store) => {
    const account = await createAccount(store)
    const idle = await startSession(store, account, { idleMs: 30 * second })
    const short = await startSession(store, account, { expiresAt: now + 40 * second })
    const listedAt = async (ms: number) => {
      const page = { now: now + ms, limit: 1_000 }
      const ids = (await store.listSessions(account.id, page)).map(({ id }) => id)
      const positions = await store.listSessionPositions(account.id, page)
      t.strictSame(
        positions.map(({ id }) => id),
        ids,
      )
      return ids.toSorted()
    }
    t.strictSame(await listedAt(30 * second - 1), [idle.id, short.id].toSorted())
    t.strictSame(await listedAt(30 * second), [short.id])
    t.strictSame(await listedAt(40 * second - 1), [short.id])
    t.strictSame(await listedAt(40 * second), [])
    await store.rotateSession(useOf(short, { now: now + second, idleMs: hour }))
    await store.rotateSession(useOf(idle, { now: now + 10 * second, idleMs: 30 * second }))
    t.strictSame(await listedAt(40 * second - 1), [idle.id, short.id].toSorted())
    t.strictSame(await listedAt(40 * second), [])
  })

  runCase(t, newPlace, 'a session ends once, for the first reason given', async (t, _place, store) => {
    const account = await createAccount(store)
    const session = await startSession(store, account)
    const kept = await startSession(store, account)
    t.equal(await store.endSession(session.id, 'revoked'), true)
    t.equal(await store.endSession(session.id, 'reused'), false)
    t.equal((await store.findSession(session.id))?.end, 'revoked')
    const listed = await store.listSessions(account.id, { now, limit: 1_000 })
    t.strictSame(
      listed.map(({ id }) => id),
      [kept.id],
    )
    t.equal(await store.endSession(kept.id, 'reused'), true)
    t.equal((await store.findSession(kept.id))?.end, 'reused')
  })

  runCase(t, newPlace, 'ended sessions make room for new ones', async (t, _place, store) => {
    const account = await createAccount(store)
    await startSession(store, account)
    t.equal(await store.endSessions(account.id), true)
    const session = await startSession(store, { ...account, revision: 2 })
    t.match(await store.listSessions(account.id, { now, limit: 1_000 }), [
      { id: session.id, sessionEpoch: 2 },
    ])
    t.equal((await store.rotateSession(useOf(session))).kind, 'current')
  })

  runCase(t, newPlace, 'sessions of one moment are in the order of their IDs', async (t, _place, store) => {
    const account = await createAccount(store)
    for (const id of mixedIds) await startSession(store, account, { id })
    const listed = await store.listSessions(account.id, { now, limit: 1_000 })
    t.strictSame(
      listed.map(({ id }) => id),
      orderedIds,
    )
  })

  sessionLimitCases(t, newPlace)
  sessionEndCases(t, newPlace)
  rotationCases(t, newPlace)
  sessionRaceCases(t, newPlace)
}
