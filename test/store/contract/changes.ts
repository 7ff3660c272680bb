import type { Test } from 'tap'
import type { Account } from '#store/accounts.ts'
import type { Change, LoggedChange } from '#store/changes.ts'
import type { NewSession } from '#store/sessions.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import {
  createAccount,
  hour,
  newAccount,
  newKey,
  newSecretKey,
  newSession,
  newSigningKey,
  now,
  second,
  startSession,
  useOf,
  withoutTimes,
} from '../samples.ts'

interface Subject {
  readonly store: Store
  readonly account: Account
  readonly session: NewSession
}

type Write = readonly [verb: string, write: (subject: Subject) => Promise<unknown>]

const kid = 'the-key'
const reset = (graceUntil: number | undefined) => ({ secretKey: newSecretKey(), graceUntil })

const accountChanges: readonly Write[] = [
  ['updateAccount', ({ store, account }) => store.updateAccount(account.id, { role: 'Admin' })],
  ['resetSecretKey', ({ store, account }) => store.resetSecretKey(account.id, reset(undefined))],
  ['resetSecretKey with grace', ({ store, account }) => store.resetSecretKey(account.id, reset(now + hour))],
  ['resetApiKey', ({ store, account }) => store.resetApiKey(account.id, { apiKey: newKey() })],
  ['endSessions', ({ store, account }) => store.endSessions(account.id)],
  ['deleteAccount', ({ store, account }) => store.deleteAccount(account.id)],
]

const sessionChanges: readonly Write[] = [
  ['endSession', ({ store, session }) => store.endSession(session.id, 'revoked')],
  [
    'rotateSession of a spent token',
    async ({ store, session }) => {
      await store.rotateSession(useOf(session))
      await store.acknowledgeRotations([{ sessionId: session.id, generation: 2, at: now }])
      await store.rotateSession(useOf(session, { now: now + 20 * second }))
    },
  ],
]

const keyChanges: readonly Write[] = [
  ['addSigningKey', ({ store }) => store.addSigningKey(newSigningKey())],
  ['retireSigningKey', ({ store }) => store.retireSigningKey(kid)],
]

/** What caches need not hear of: nothing that could be known has changed. */
const silent: readonly Write[] = [
  ['createAccounts', ({ store }) => store.createAccounts([newAccount()])],
  ['startSession', ({ store, account }) => store.startSession(newSession(account), account)],
  ['rotateSession', ({ store, session }) => store.rotateSession(useOf(session))],
  ['updateAccount of nobody', ({ store }) => store.updateAccount('nobody', { role: 'Admin' })],
  [
    'updateAccount to a taken e-mail',
    async ({ store, account }) => {
      const { email } = await createAccount(store)
      await store.updateAccount(account.id, { email })
    },
  ],
  ['resetSecretKey of nobody', ({ store }) => store.resetSecretKey('nobody', reset(undefined))],
  ['resetApiKey of nobody', ({ store }) => store.resetApiKey('nobody', { apiKey: newKey() })],
  ['endSessions of nobody', ({ store }) => store.endSessions('nobody')],
  ['deleteAccount of nobody', ({ store }) => store.deleteAccount('nobody')],
  ['endSession of none', ({ store }) => store.endSession('none', 'revoked')],
  ['rotateSession of none', ({ store }) => store.rotateSession(useOf({ id: 'none' }))],
  [
    'rotateSession of a token of the future',
    ({ store, session }) => store.rotateSession(useOf(session, { generation: 9 })),
  ],
  [
    'addSigningKey beside a signer',
    ({ store }) => store.addSigningKey(newSigningKey(), { onlyIfNoSigner: true }),
  ],
  [
    'resealSigningKey of none',
    ({ store }) => store.resealSigningKey('none', { before: new Uint8Array(1), after: new Uint8Array(1) }),
  ],
  ['retireSigningKey of none', ({ store }) => store.retireSigningKey('none')],
]

/** The contract of ChangeStore: which verbs log a change, and how the log is read. */
export function runChangeContract(t: Test, newPlace: NewPlace): void {
  function logs(
    writes: readonly Write[],
    outcome: string,
    expect: (subject: Subject) => readonly Change[],
  ): void {
    for (const [verb, write] of writes) {
      runCase(t, newPlace, `${verb} ${outcome}`, async (t, place, store) => {
        const account = await createAccount(store)
        const subject = { store, account, session: await startSession(store, account) }
        await store.addSigningKey(newSigningKey({ kid }))
        const other = await place.open()
        const { head } = await store.readChanges(undefined)
        const heard: Change[] = []
        const heardByOther: Change[] = []
        store.onChange(({ change }) => heard.push(change))
        other.onChange(({ change }) => heardByOther.push(change))
        await write(subject)
        const changes = expect(subject)
        t.strictSame(heard, changes)
        t.strictSame(heardByOther, [])
        t.strictSame(withoutTimes(await other.readChanges(head)), { head: head + changes.length, changes })
        t.strictSame(withoutTimes(await other.readChanges(head + changes.length)), {
          head: head + changes.length,
          changes: [],
        })
      })
    }
  }

  const isLogged = 'is logged, and reported before it answers'
  logs(accountChanges, isLogged, ({ account }) => [{ kind: 'account', accountId: account.id }])
  logs(sessionChanges, isLogged, ({ session }) => [{ kind: 'session', sessionId: session.id }])
  logs(keyChanges, isLogged, () => [{ kind: 'signing-keys' }])
  logs(silent, 'logs nothing', () => [])

  runCase(t, newPlace, 'the change log is read from any position, in order', async (t, place, store) => {
    const account = await createAccount(store)
    const session = await startSession(store, account)
    await store.updateAccount(account.id, { role: 'Admin' })
    await store.endSession(session.id, 'revoked')
    await store.addSigningKey(newSigningKey())
    const all = [
      { kind: 'account', accountId: account.id },
      { kind: 'session', sessionId: session.id },
      { kind: 'signing-keys' },
    ]
    const other = await place.open()
    for (const after of [0, 1, 2, 3]) {
      t.strictSame(withoutTimes(await other.readChanges(after)), { head: 3, changes: all.slice(after) })
    }
  })

  runCase(
    t,
    newPlace,
    'a change has its position and its time, however it is received',
    async (t, place, store) => {
      const heard: LoggedChange[] = []
      store.onChange((logged) => heard.push(logged))
      const other = await place.open()
      const times: number[] = []
      for (const _ of [1, 2, 3]) {
        times.push(Date.now())
        await store.addSigningKey(newSigningKey())
      }
      const { changes = [] } = await other.readChanges(0)
      for (const logged of [heard, changes]) {
        t.strictSame(
          logged.map(({ position }) => position),
          [1, 2, 3],
        )
        // Clocks of two processes, whose difference is estimated.
        for (const [index, { at }] of logged.entries()) t.ok(Math.abs(at - (times[index] ?? 0)) < 500)
      }
    },
  )

  runCase(
    t,
    newPlace,
    'the first reading of the change log is known to be complete',
    async (t, _place, store) => {
      t.strictSame(await store.readChanges(undefined), { head: 0, changes: [], completeSince: 0 })
      await store.addSigningKey(newSigningKey({ kid }))
      await store.retireSigningKey(kid)
      const reading = await store.readChanges(undefined)
      t.strictSame(withoutTimes(reading), {
        head: 2,
        changes: [{ kind: 'signing-keys' }, { kind: 'signing-keys' }],
      })
      t.equal(reading.completeSince, 0)
    },
  )

  runCase(
    t,
    newPlace,
    'a position beyond the end of the change log is reported as unknown changes',
    async (t, _place, store) => {
      const before = Date.now()
      t.strictSame(await store.readChanges(0), { head: 0, changes: [], completeSince: 0 })
      t.strictSame(withoutTimes(await store.readChanges(1)), { head: 0, changes: undefined })
      await store.addSigningKey(newSigningKey())
      const reading = await store.readChanges(7)
      t.strictSame(withoutTimes(reading), { head: 1, changes: undefined })
      t.ok(reading.completeSince >= before, 'nor what came before it')
    },
  )

  runCase(t, newPlace, 'every listener receives every change', async (t, _place, store) => {
    const heard: string[] = []
    store.onChange(({ change }) => heard.push(`first ${change.kind}`))
    store.onChange(({ change }) => heard.push(`second ${change.kind}`))
    await store.addSigningKey(newSigningKey({ kid }))
    await store.retireSigningKey(kid)
    t.strictSame(heard, [
      'first signing-keys',
      'second signing-keys',
      'first signing-keys',
      'second signing-keys',
    ])
  })
}
