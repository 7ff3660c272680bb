import type { Test } from 'tap'
import type { Account } from '#store/accounts.ts'
import type { NewSession } from '#store/sessions.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { listAudit, newAuditEntry } from '../portal-samples.ts'
import { createAccount, newSecretKey, newSession, now, startSession, useOf } from '../samples.ts'

const rounds = 30

const reuseEntry = ({ id, email }: Account) =>
  newAuditEntry({ action: 'session-reused', target: { id, email } })

/** What ends sessions, each racing what keeps them alive. */
const endings: Record<string, (store: Store, session: NewSession) => Promise<unknown>> = {
  'the end of the session': (store, { id }) => store.endSession(id, 'revoked'),
  'the end of all sessions': (store, { accountId }) => store.endSessions(accountId),
  'a reset': (store, { accountId }) =>
    store.resetSecretKey(accountId, { secretKey: newSecretKey(), graceUntil: undefined }),
  'disabling the account': (store, { accountId }) => store.updateAccount(accountId, { isDisabled: true }),
  'deleting the account': (store, { accountId }) => store.deleteAccount(accountId),
}

/** What happens at the same moment, from several connections. */
export function sessionRaceCases(t: Test, newPlace: NewPlace): void {
  for (const count of [2, 3, 16, 64]) {
    runCase(
      t,
      newPlace,
      `${count} uses of one refresh token at once all give the same next one`,
      async (t, place, store) => {
        const stores = await openMany(place, 4)
        const session = await startSession(store, await createAccount(store))
        for (const generation of [1, 2, 3]) {
          const rotations = await Promise.all(
            Array.from({ length: count }, (_, index) =>
              stores[index % stores.length]?.rotateSession(useOf(session, { generation })),
            ),
          )
          for (const rotation of rotations) {
            t.match(rotation, { kind: 'current', session: { generation: generation + 1 } })
          }
          t.match(await store.findSession(session.id), { generation: generation + 1, end: undefined })
        }
      },
    )
  }

  runCase(
    t,
    newPlace,
    'without a grace uses at once give the same next refresh token until it is acknowledged',
    async (t, place, store) => {
      const stores = await openMany(place, 4)
      for (let round = 0; round < rounds; round++) {
        const session = await startSession(store, await createAccount(store))
        const use = useOf(session, { graceMs: 0 })
        for (const rotation of await Promise.all(stores.map((each) => each.rotateSession(use)))) {
          t.match(rotation, { kind: 'current', session: { generation: 2 } })
        }
        const given = [{ sessionId: session.id, generation: 2, at: use.now }]
        await Promise.all(stores.map((each) => each.acknowledgeRotations(given)))
        const late = await Promise.all(stores.map((each) => each.rotateSession(use, reuseEntry)))
        t.strictSame(
          late.map((rotation) => (rotation.kind === 'over' ? rotation.reason : rotation.kind)).toSorted(),
          ['reused', 'revoked', 'revoked', 'revoked'],
        )
        t.equal((await store.findSession(session.id))?.end, 'reused')
        const [newest] = await listAudit(store, { before: undefined, limit: 1 })
        t.match(newest, { action: 'session-reused', target: { id: session.accountId } })
        const audited = await listAudit(store, { before: undefined, limit: rounds + 1 })
        t.equal(audited.length, round + 1, 'one entry is written for each session')
      }
    },
  )

  for (const [name, end] of Object.entries(endings)) {
    runCase(t, newPlace, `a refresh racing ${name} leaves no live session`, async (t, place, store) => {
      const stores = await openMany(place, 4)
      for (let round = 0; round < rounds; round++) {
        const session = await startSession(store, await createAccount(store))
        // Who comes first changes from round to round.
        await Promise.all(
          stores.map((each, index) =>
            index === round % stores.length
              ? end(each, session)
              : each.rotateSession(useOf(session, { generation: 1 })),
          ),
        )
        await assertNoLiveSession(t, store, session)
      }
    })

    if (name === 'the end of the session') continue
    runCase(t, newPlace, `a sign-in racing ${name} leaves no live session`, async (t, place, store) => {
      const stores = await openMany(place, 4)
      for (let round = 0; round < rounds; round++) {
        const account = await createAccount(store)
        const sessions = stores.map(() => newSession(account))
        await Promise.all(
          sessions.map((session, index) => {
            const each = stores[index]
            if (index !== round % stores.length) return each?.startSession(session, account)
            return each && end(each, session)
          }),
        )
        for (const session of sessions) await assertNoLiveSession(t, store, session)
      }
    })
  }
}

async function assertNoLiveSession(t: Test, store: Store, session: NewSession): Promise<void> {
  t.strictSame(await store.listSessions(session.accountId, { now, limit: 1_000 }), [])
  for (const generation of [1, 2]) {
    const rotation = await store.rotateSession(useOf(session, { generation }))
    t.equal(rotation.kind, 'over')
  }
  const owner: Account | undefined = await store.findAccount(session.accountId)
  const found = await store.findSession(session.id)
  const isOver = !owner || !found || found.end !== undefined || found.sessionEpoch !== owner.sessionEpoch
  t.ok(isOver, 'neither its own record nor its epoch says it lives')
}
