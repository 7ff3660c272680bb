import type { Test } from 'tap'
import type { NewSession, RefreshTokenUse, Rotation } from '#store/sessions.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import { createAccount, day, hour, now, plain, second, startSession, useOf } from '../samples.ts'

const over = (reason: string) => ({ kind: 'over', reason })

async function startOne(store: Store, changes: Partial<NewSession> = {}) {
  const account = await createAccount(store)
  const session = await startSession(store, account, changes)
  const rotate = (use: Partial<RefreshTokenUse> = {}) => store.rotateSession(useOf(session, use))
  const acknowledge = (generation: number, at: number) =>
    store.acknowledgeRotations([{ sessionId: session.id, generation, at }])
  /** Rotates, and gives the next token out. */
  async function trade(use: Partial<RefreshTokenUse> = {}): Promise<Rotation> {
    const { generation, now: at } = useOf(session, use)
    const rotation = await rotate(use)
    await acknowledge(generation + 1, at)
    return rotation
  }
  return { account, session, rotate, trade, acknowledge }
}

function generationOf(rotation: Rotation): number | string {
  return rotation.kind === 'current' ? rotation.session.generation : rotation.reason
}

/** What one use of a refresh token leads to (RFC 9700 4.14.2). */
export function rotationCases(t: Test, newPlace: NewPlace): void {
  runCase(t, newPlace, 'the current refresh token is exchanged for the next', async (t, _place, store) => {
    const { account, session, rotate } = await startOne(store)
    for (const generation of [1, 2, 3, 4]) {
      const at = now + generation * second
      const visitor = { address: `192.0.2.${generation}`, userAgent: `Browser/${generation}` }
      const rotation = await rotate({ generation, now: at, visitor })
      const { id, accountId, createdAt, expiresAt, keyId } = session
      const rotated = { id, accountId, createdAt, expiresAt, keyId, sessionEpoch: 1, end: undefined }
      const times = { rotatedAt: at, acknowledgedAt: undefined }
      const expected = { ...rotated, generation: generation + 1, ...times, ...visitor }
      t.strictSame(plain(rotation), { kind: 'current', session: expected, account: plain(account) })
      t.strictSame(await store.findSession(session.id), expected)
    }
  })

  runCase(t, newPlace, 'a rotation returns the account as it is now', async (t, _place, store) => {
    const { account, rotate } = await startOne(store)
    await store.updateAccount(account.id, { role: 'Admin' })
    t.match(await rotate(), { kind: 'current', account: { role: 'Admin', revision: 2 } })
  })

  runCase(
    t,
    newPlace,
    'the refresh token just replaced gives the same current one within the grace',
    async (t, _place, store) => {
      const { session, rotate, trade, acknowledge } = await startOne(store)
      const graceMs = 10 * second
      await trade({ now: now + second, graceMs })
      // A clock of another instance may be behind.
      for (const at of [now, now + second, now + 2 * second, now + 11 * second - 1]) {
        t.equal(generationOf(await rotate({ now: at, graceMs })), 2)
        await acknowledge(2, at)
      }
      const { rotatedAt, acknowledgedAt } = (await store.findSession(session.id)) ?? {}
      t.strictSame([rotatedAt, acknowledgedAt], [now + second, now + second], 'the grace is not prolonged')
      t.equal(generationOf(await trade({ generation: 2, now: now + 11 * second - 1, graceMs })), 3)
      t.equal(generationOf(await rotate({ generation: 2, now: now + 21 * second - 2, graceMs })), 3)
      t.strictSame(await rotate({ generation: 2, now: now + 21 * second - 1, graceMs }), over('reused'))
    },
  )

  for (const graceMs of [10 * second, 0]) {
    runCase(
      t,
      newPlace,
      `a refresh token whose successor was not acknowledged gives the same one at any time, with a grace of ${graceMs} ms`,
      async (t, _place, store) => {
        const { session, rotate, acknowledge } = await startOne(store)
        const idleMs = day
        for (const at of [now + second, now + 12 * second, now + 2 * hour]) {
          t.equal(generationOf(await rotate({ now: at, graceMs, idleMs })), 2)
        }
        await acknowledge(1, now + 2 * hour)
        t.equal(
          (await store.findSession(session.id))?.acknowledgedAt,
          undefined,
          'only the current one counts',
        )
        await acknowledge(2, now + 2 * hour)
        const late = { now: now + 2 * hour + graceMs, graceMs, idleMs }
        if (graceMs > 0) t.equal(generationOf(await rotate({ ...late, now: late.now - 1 })), 2)
        t.strictSame(await rotate(late), over('reused'))
      },
    )
  }

  runCase(t, newPlace, 'using the next refresh token acknowledges it', async (t, _place, store) => {
    const { rotate } = await startOne(store)
    t.equal(generationOf(await rotate()), 2)
    t.equal(generationOf(await rotate({ generation: 2 })), 3)
    t.equal(generationOf(await rotate({ generation: 2, now: now + hour - 1 })), 3)
    t.strictSame(await rotate({ generation: 1 }), over('reused'))
  })

  runCase(
    t,
    newPlace,
    'each of many acknowledgements at once reaches its own session',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const sessions = await Promise.all(Array.from({ length: 50 }, () => startSession(store, account)))
      await Promise.all(sessions.map((session) => store.rotateSession(useOf(session))))
      const given = sessions.map(({ id }, index) => ({ sessionId: id, generation: 2, at: now + index }))
      await store.acknowledgeRotations([...given, { sessionId: 'unknown', generation: 2, at: now }])
      const found = await Promise.all(sessions.map(({ id }) => store.findSession(id)))
      t.strictSame(
        found.map((session) => session?.acknowledgedAt),
        given.map(({ at }) => at),
      )
      t.equal(await store.findSession('unknown'), undefined)
    },
  )

  const reuses: readonly [string, Partial<RefreshTokenUse>, Partial<RefreshTokenUse>][] = [
    ['after the grace', { generation: 2 }, { generation: 2, now: now + 12 * second }],
    ['at once without a grace', { generation: 2 }, { generation: 2, now: now + 2 * second, graceMs: 0 }],
    ['within the grace as the last but one', { generation: 2 }, { generation: 1, now: now + 2 * second }],
  ]
  for (const [when, next, reuse] of reuses) {
    runCase(t, newPlace, `a spent refresh token used ${when} ends its session`, async (t, _place, store) => {
      const { account, session, rotate, trade } = await startOne(store)
      await trade()
      await trade({ ...next, now: now + 2 * second })
      t.strictSame(await rotate(reuse), over('reused'))
      t.equal((await store.findSession(session.id))?.end, 'reused')
      t.strictSame(await store.listSessions(account.id, { now, limit: 1_000 }), [])
      for (const generation of [1, 2, 3]) t.strictSame(await rotate({ generation }), over('revoked'))
    })
  }

  runCase(
    t,
    newPlace,
    'without a grace not even a clock that is behind allows a second use',
    async (t, _place, store) => {
      const { rotate, trade } = await startOne(store)
      await trade({ graceMs: 0 })
      t.strictSame(await rotate({ now, graceMs: 0 }), over('reused'))
    },
  )

  runCase(
    t,
    newPlace,
    'a refresh token that the store has lost goes on, and earlier ones are spent',
    async (t, _place, store) => {
      const { session, rotate, trade } = await startOne(store)
      t.equal(generationOf(await trade({ generation: 5 })), 6)
      t.match(await store.findSession(session.id), { generation: 6, end: undefined })
      t.equal(generationOf(await trade({ generation: 6 })), 7)
      t.strictSame(await rotate({ generation: 4 }), over('reused'))
    },
  )

  runCase(t, newPlace, 'no rotation extends a session beyond its end', async (t, _place, store) => {
    const { session, rotate } = await startOne(store, { expiresAt: now + hour })
    const idleMs = day
    t.equal(generationOf(await rotate({ now: now + hour - 1, idleMs })), 2)
    t.equal((await store.findSession(session.id))?.expiresAt, now + hour)
    for (const generation of [1, 2]) {
      t.strictSame(await rotate({ generation, now: now + hour, idleMs }), over('expired'))
    }
    t.equal((await store.findSession(session.id))?.end, undefined)
  })

  runCase(t, newPlace, 'a session ends if it is idle for too long', async (t, _place, store) => {
    const idleMs = 10 * second
    const { rotate } = await startOne(store, { idleMs })
    t.strictSame(await rotate({ now: now + idleMs, idleMs }), over('expired'))
    t.equal(generationOf(await rotate({ now: now + idleMs - 1, idleMs })), 2)
    t.equal(generationOf(await rotate({ generation: 2, now: now + 2 * idleMs - 2, idleMs })), 3)
    t.strictSame(await rotate({ generation: 3, now: now + 3 * idleMs - 2, idleMs }), over('expired'))
  })

  runCase(
    t,
    newPlace,
    'a refresh of an ended session reports its end before grace and age',
    async (t, _place, store) => {
      const { session, rotate } = await startOne(store)
      await rotate()
      await store.endSession(session.id, 'revoked')
      for (const generation of [1, 2, 3]) {
        t.strictSame(await rotate({ generation }), over('revoked'))
        t.strictSame(await rotate({ generation, now: now + 2 * day }), over('revoked'))
      }
      t.match(await store.findSession(session.id), { generation: 2, end: 'revoked' })
    },
  )

  runCase(t, newPlace, 'a refresh token of a deleted account is unknown', async (t, _place, store) => {
    const { account, rotate } = await startOne(store)
    await rotate()
    await store.deleteAccount(account.id)
    for (const generation of [1, 2, 3]) t.strictSame(await rotate({ generation }), over('unknown'))
  })
}
