import type { Test } from 'tap'
import { openStore, type StoreOptions } from '#store/open.ts'
import type { Store } from '#store/store.ts'
import { type Facts, lookUp } from './facts.ts'
import { type WriterEnd, writeUntilKilled } from './write-until-killed.ts'

/** A pass of the writer is 10 writes, so that the end comes in every one of them. */
const writesMost = 60

export interface RoundsOptions {
  readonly store: StoreOptions
  /** Bounds of the whole: whichever is reached first. */
  readonly rounds: number
  readonly withinMs: number
  /** Default: kills the writer. */
  readonly kill?: WriterEnd['kill']
  /** What happens between a kill and the look at what is left. */
  readonly between?: () => Promise<void>
}

/** Kills in the middle of writes again and again on one store, and each time finds all it was answered, and nothing half. */
export async function surviveKills(t: Test, options: RoundsOptions): Promise<void> {
  const { kill = (writer) => writer.kill('SIGKILL') } = options
  const deadline = performance.now() + options.withinMs
  let truth: Facts = {}
  let writes = 0
  for (let round = 0; round < options.rounds && performance.now() < deadline; round++) {
    const writesMin = Math.floor(Math.random() * writesMost)
    const { answered, asked, ...last } = await writeUntilKilled(t, options.store, { writesMin, kill })
    await options.between?.()
    const store = await openStore(options.store, 'command')
    await store.ready(10_000)
    writes += last.writes
    const isDone = await isWhole(t, store, answered, asked)
    const facts = isDone ? { ...answered, ...asked } : answered
    t.strictSame(await lookUp(store, facts), facts, `${last.writes} answered writes are all there`)
    truth = { ...truth, ...facts }
    await assertComplete(t, store, truth)
    await store.close()
  }
  t.ok(writes > options.rounds, `${writes} writes were answered`)
  const store = await openStore(options.store, 'command')
  await store.ready(10_000)
  t.strictSame(await lookUp(store, truth), truth, 'and in the end still are')
  await store.close()
}

/** What was not answered has been done as a whole or not at all. @returns whether it has been done */
async function isWhole(t: Test, store: Store, answered: Facts, asked: Facts): Promise<boolean> {
  const names = Object.keys(asked)
  const before = Object.fromEntries(names.map((name) => [name, answered[name] ?? null]))
  const found = JSON.stringify(await lookUp(store, asked))
  t.ok([JSON.stringify(before), JSON.stringify(asked)].includes(found), `whole or not at all: ${found}`)
  return found === JSON.stringify(asked)
}

/** Every account is listed, and there are no others. */
async function assertComplete(t: Test, store: Store, truth: Facts): Promise<void> {
  const listed = await store.listAccounts({ after: undefined, limit: 100_000 })
  const living = Object.keys(truth).filter((name) => name.startsWith('account ') && truth[name] !== null)
  t.strictSame(listed.map(({ id }) => `account ${id}`).toSorted(), living.toSorted())
}
