import type { Test } from 'tap'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import type { Store } from '#store/store.ts'
import { until } from '../../setup/net.ts'
import { newAccount } from '../samples.ts'
import { openStoreAt, type RedisOptions } from './place.ts'

/** What a request may wait at most for the store (contract 7), and some for a busy machine. */
const answerWithinMs = 500 + 500
const accountsMost = 20_000
/** Changes before the failure, and after the store is back. */
const changes = 100

/**
 * Lets the master die while accounts are changed, one after the other: what was answered is there afterwards,
 * and a reader of the change log has received it, or learnt that changes are unknown.
 */
export async function surviveFailover(
  t: Test,
  options: RedisOptions,
  killMaster: () => Promise<void>,
): Promise<void> {
  const patient = await openStoreAt(t, { ...options, commandTimeoutMs: 10_000 })
  const accounts = Array.from({ length: accountsMost }, () => newAccount())
  // In parts: as one step it keeps a busy machine's Redis from answering for so long that it counts as dead.
  for (let from = 0; from < accountsMost; from += 1_000) {
    await patient.createAccounts(accounts.slice(from, from + 1_000))
  }
  const hurried = { ...options, commandTimeoutMs: 250, replicas: 1 }
  const writer = startWriter(await openStoreAt(t, hurried), accounts)
  const reader = startReader(await openStoreAt(t, hurried, { listens: true }))
  const visitor = startVisitor(await openStoreAt(t, hurried), accounts.at(-1)?.id ?? '')

  t.teardown(() => Promise.all([writer.stop(), reader.stop(), visitor.stop()]))
  // Twenty thousand accounts have to reach the replica first.
  await until('changes are made', () => writer.answered.length > changes || undefined, 60_000)
  await killMaster()
  await until('one is refused', () => writer.failed() > 0 || undefined)
  const before = writer.answered.length
  await until('changes are made again', () => writer.answered.length > before + changes || undefined, 60_000)
  await writer.stop()
  await visitor.stop()
  await reader.catchUp()

  await patient.ready(10_000)
  const found = await Promise.all(writer.answered.map((id) => patient.findAccount(id)))
  const missing = found.filter((account) => account?.role !== changedRole)
  t.strictSame(missing, [], `all ${found.length} changes that were answered are there`)
  const unheard = writer.answered.filter((id) => !reader.isNotified(id))
  t.strictSame(unheard, [], `and received; ${reader.gaps()} times as unknown changes`)
  t.strictSame([...visitor.answers].toSorted(), ['store-unavailable', 'there'], 'nobody is ever missing')
  t.ok(visitor.slowestMs() < answerWithinMs, `the slowest answer took ${visitor.slowestMs().toFixed(0)} ms`)
  await assertHears(t, reader.store, patient, accounts)
}

const changedRole = 'Changed'

/** Runs work again and again until it is stopped. */
function repeat(work: () => Promise<unknown>): () => Promise<void> {
  let isOver = false
  const running = (async () => {
    while (!isOver) {
      await work()
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })()
  return () => {
    isOver = true
    return running
  }
}

/** Changes each account once, so that it is known which change was answered. */
function startWriter(store: Store, accounts: readonly Account[]) {
  const answered: string[] = []
  let next = 0
  let failed = 0
  const stop = repeat(async () => {
    const { id = '' } = accounts[next++] ?? {}
    await store.updateAccount(id, { role: changedRole }).then(
      () => answered.push(id),
      () => failed++,
    )
  })
  return { answered, failed: () => failed, stop }
}

/** Follows the change log as a cache does. */
function startReader(store: Store) {
  const notified = new Set<string>()
  let position: number | undefined
  let gaps = 0
  let isAll = false

  async function read(): Promise<true | undefined> {
    const reading = await store.readChanges(position).catch(() => undefined)
    if (!reading) return undefined
    position = reading.head
    if (reading.changes === undefined) {
      gaps++
      // Whatever was changed by now is dropped from the cache.
      isAll = true
    }
    for (const { change } of reading.changes ?? []) {
      if (change.kind === 'account') notified.add(change.accountId)
    }
    return true
  }

  const stop = repeat(read)
  return {
    store,
    stop,
    gaps: () => gaps,
    isNotified: (id: string) => isAll || notified.has(id),
    catchUp: async () => {
      await stop()
      // Sentinel takes its time to turn a master that came back into a replica.
      await until('the log is read', read, 30_000)
    },
  }
}

/** Looks for somebody who is there. */
function startVisitor(store: Store, id: string) {
  const answers = new Set<string>()
  let slowestMs = 0
  const stop = repeat(async () => {
    const askedAt = performance.now()
    const answer = await store.findAccount(id).then(
      (account) => (account ? 'there' : 'missing'),
      (error: { readonly code: string }) => error.code,
    )
    answers.add(answer)
    slowestMs = Math.max(slowestMs, performance.now() - askedAt)
  })
  return { answers, slowestMs: () => slowestMs, stop }
}

/** What is changed after the failover is heard of as soon as before. */
async function assertHears(
  t: Test,
  listener: Store,
  writer: Store,
  accounts: readonly Account[],
): Promise<void> {
  const heard = new Set<string>()
  listener.onChange(({ change }) => change.kind === 'account' && heard.add(change.accountId))
  const [{ id } = { id: '' }] = accounts.slice(-1)
  await until('a change is heard of', async () => {
    try {
      await writer.updateAccount(id, {})
      // As a gateway does: this is how a channel that has fallen silent is noticed.
      await listener.readChanges(undefined)
    } catch (error) {
      // Each has its own connections, and one may still be on its way to the heir.
      ignoreUnavailable(error)
    }
    return heard.has(id) || undefined
  })
  t.pass('changes are heard of as they are made')
}

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof GatehouseError && error.code === 'store-unavailable')) throw error
}
