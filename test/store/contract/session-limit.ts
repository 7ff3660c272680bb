import type { Test } from 'tap'
import type { Account } from '#store/accounts.ts'
import type { LoggedChange } from '#store/changes.ts'
import type { NewSession } from '#store/sessions.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { createAccount, hour, newSession, now, startSession, useOf } from '../samples.ts'

const limit = 100

/** How many sessions an account may have. */
export function sessionLimitCases(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'an account has up to 100 sessions, and the 101st ends the oldest',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const changes: LoggedChange[] = []
      store.onChange((change) => changes.push(change))
      const sessions = await startMany(store, account, limit)
      t.strictSame(await openIds(store, account), idsOf(sessions).toReversed())
      t.strictSame(changes, [])

      // It is the oldest, though it was used last.
      const [oldest, second] = sessions
      if (!oldest || !second) throw new Error('there are no sessions')
      t.equal((await store.rotateSession(useOf(oldest))).kind, 'current')
      const one = await startSession(store, account, { createdAt: now + limit })
      t.strictSame(await openIds(store, account), [one.id, ...idsOf(sessions.slice(1)).toReversed()])
      t.match(await store.findSession(oldest.id), { end: 'revoked' })
      const use = useOf(oldest, { generation: 2 })
      t.strictSame(await store.rotateSession(use), { kind: 'over', reason: 'revoked' })
      t.equal((await store.rotateSession(useOf(second))).kind, 'current')
      t.strictSame(
        changes.map(({ change }) => change),
        [{ kind: 'session', sessionId: oldest.id }],
        'other instances are notified',
      )
    },
  )

  runCase(
    t,
    newPlace,
    'far more sessions than the limit are ended by the next sign-in',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const other = await createAccount(store)
      const kept = await startSession(store, other)
      const sessions = await startMany(store, account, 650, { openMax: 1_000 })
      t.equal((await openIds(store, account)).length, 650)
      const last = await startSession(store, account, { createdAt: now + 650 })
      const expected = [last.id, ...idsOf(sessions).toReversed()].slice(0, limit)
      t.strictSame(await openIds(store, account), expected)
      t.strictSame(await openIds(store, other), [kept.id])
    },
  )

  runCase(
    t,
    newPlace,
    'sessions that start at the same time do not pass the limit',
    async (t, place, store) => {
      const account = await createAccount(store)
      const stores = await openMany(place, 4)
      await Promise.all(
        Array.from({ length: 40 }, (_, index) =>
          startSession(stores[index % 4] ?? store, account, { openMax: 10, createdAt: now + index }),
        ),
      )
      t.equal((await openIds(store, account)).length, 10)
    },
  )

  runCase(t, newPlace, 'ended sessions do not count towards the limit', async (t, _place, store) => {
    const account = await createAccount(store)
    const first = await startSession(store, account, { openMax: 3 })
    const ended = await startSession(store, account, { openMax: 3, createdAt: now + 1 })
    await startSession(store, account, { openMax: 3, createdAt: now + 2, idleMs: 10 })
    await store.endSession(ended.id, 'revoked')
    // The idle one is over by then too: two places are free.
    const later = now + hour / 2
    const fourth = await startSession(store, account, { openMax: 3, createdAt: later })
    const fifth = await startSession(store, account, { openMax: 3, createdAt: later + 1 })
    t.strictSame(await openIds(store, account, later), [fifth.id, fourth.id, first.id])
    await store.endSessions(account.id)
    const again = { ...account, revision: 2, sessionEpoch: 2 }
    const sixth = await startSession(store, again, { openMax: 1, createdAt: later + 2 })
    t.strictSame(await openIds(store, again, later), [sixth.id])
  })

  runCase(t, newPlace, 'sessions of an account are listed page after page', async (t, _place, store) => {
    const account = await createAccount(store)
    // Three of each moment: pages end among them.
    const sessions: NewSession[] = []
    for (let index = 0; index < 21; index++) {
      sessions.push(await startSession(store, account, { createdAt: now + Math.floor(index / 3) }))
    }
    const all = await store.listSessions(account.id, { now, limit: 1_000 })
    t.strictSame(idsOf(all).toSorted(), idsOf(sessions).toSorted())
    const seen: string[] = []
    for (let after: NewSession | undefined; seen.length < 100; ) {
      const page = await store.listSessions(account.id, { now, after, limit: 4 })
      const positions = await store.listSessionPositions(account.id, { now, after, limit: 4 })
      t.strictSame(
        positions.map(({ id, createdAt }) => ({ id, createdAt })),
        page.map(({ id, createdAt }) => ({ id, createdAt })),
      )
      if (page.length === 0) break
      seen.push(...idsOf(page))
      after = sessions.find(({ id }) => id === page.at(-1)?.id)
      // What was the last of a page may have ended when the next is asked for.
      if (after && seen.length < 13) await store.endSession(after.id, 'revoked')
    }
    t.strictSame(seen, idsOf(all))
  })
}

async function startMany(
  store: Store,
  account: Account,
  count: number,
  changes: Partial<NewSession> = {},
): Promise<readonly NewSession[]> {
  const sessions = Array.from({ length: count }, (_, index) =>
    newSession(account, { createdAt: now + index, ...changes }),
  )
  for (const session of sessions) await store.startSession(session, account)
  return sessions
}

async function openIds(store: Store, { id }: Account, at = now): Promise<readonly string[]> {
  return idsOf(await store.listSessions(id, { now: at, limit: 1_000 }))
}

function idsOf(sessions: readonly { readonly id: string }[]): readonly string[] {
  return sessions.map(({ id }) => id)
}
