import t from 'tap'
import { isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import type { NewSession } from '#store/sessions.ts'
import type { Store } from '#store/store.ts'
import { reshard, startRedisCluster } from '../../setup/redis-cluster.ts'
import { createAccount, startSession, useOf } from '../samples.ts'
import { openStoreAt, optionsOf } from './place.ts'

// slow: a Redis Cluster moves slots under load

t.setTimeout(120_000)

const masters = await startRedisCluster(t)
const anyKey = 'gh:{account}:ids'
const accountsMade = 60
const sessionsEach = 3
/** How many ask at the same time, without a pause. */
const lanes = 8

interface Known {
  readonly account: Account
  readonly session: NewSession
  generation: number
}

interface Tally {
  answered: number
  unavailable: number
  /** What must not be: an answer that says that something is not there, or over. */
  readonly wrong: string[]
}

t.test('a slot that is moved twice under load ends no session and hides no account', async (t) => {
  const [{ server }] = masters
  const topology = { kind: 'cluster', nodes: [{ host: '127.0.0.1', port: server.port }] } as const
  // The time that a request may wait.
  const store = await openStoreAt(t, optionsOf({ url: '' }, { topology, commandTimeoutMs: 250 }))
  const known = await createKnown(store)
  const tally: Tally = { answered: 0, unavailable: 0, wrong: [] }
  let isMoving = true
  let asked = 0
  const load = Array.from({ length: lanes }, async (_, lane) => {
    // Each lane has sessions of its own: none is used twice at once.
    const own = known.filter((_, index) => index % lanes === lane)
    for (let turn = 0; isMoving; turn++) {
      const one = own[turn % own.length]
      if (one) await askAbout(store, one, tally)
      asked++
    }
  })
  const migration = async () => {
    const before = asked
    const moved = await reshard(masters, anyKey, async () => {
      // The load goes on between any two keys.
      const seen = asked
      while (asked === seen && isMoving) await new Promise(setImmediate)
    })
    t.ok(moved >= accountsMade * (1 + sessionsEach), `${moved} keys were moved`)
    t.ok(asked - before >= moved, 'under load')
  }
  await migration()
  await migration()
  isMoving = false
  await Promise.all(load)

  t.strictSame(tally.wrong, [])
  t.comment(`${tally.answered} answers, ${tally.unavailable} times store-unavailable`)
  const after: Tally = { answered: 0, unavailable: 0, wrong: [] }
  for (const one of known) await askAbout(store, one, after)
  t.strictSame(after, { answered: known.length, unavailable: 0, wrong: [] }, 'afterwards all is as before')
})

async function createKnown(store: Store): Promise<readonly Known[]> {
  const known: Known[] = []
  for (let made = 0; made < accountsMade; made++) {
    const account = await createAccount(store)
    for (let started = 0; started < sessionsEach; started++) {
      const session = await startSession(store, account, { createdAt: Date.now() })
      known.push({ account, session, generation: 1 })
    }
  }
  return known
}

/** A look at the account as a secret key needs it, and a refresh. */
async function askAbout(store: Store, one: Known, tally: Tally): Promise<void> {
  const { account, session } = one
  try {
    if (!(await store.findAccount(account.id))) tally.wrong.push('the account was not found')
    const use = useOf(session, { generation: one.generation, now: Date.now(), graceMs: 3_600_000 })
    const rotation = await store.rotateSession(use)
    if (rotation.kind === 'current') one.generation = rotation.session.generation
    else tally.wrong.push(rotation.reason)
    tally.answered++
  } catch (error) {
    if (!isStoreUnavailable(error)) tally.wrong.push(String(error))
    tally.unavailable++
  }
}
