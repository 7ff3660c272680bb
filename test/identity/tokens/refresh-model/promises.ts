import { isExcused } from './explore.ts'
import { type Actor, later, type State, type World } from './state.ts'
import { deliver, settle, use } from './steps.ts'

/** An owner whose refreshes were not acknowledged, or were and came, is never logged out. */
export function keepsTheOwner(state: State, world: World): string | undefined {
  if (isExcused(state, world)) return undefined
  // Without a grace nobody uses a token again while the answer may still come.
  if (world.graceMs === 0 && state.flights.owner) return undefined
  const { refusal } = use('owner', { ...state, isLinked: true }, world)
  return refusal && `the owner's token ${state.owned} is refused: ${refusal}`
}

/** What was answered is never lost with the master. */
export function keepsWhatWasAnswered({ owned, master, replica }: State, world: World): string | undefined {
  if (world.topology === 'unconfirmed') return undefined
  const isKept = owned <= master.generation && (world.topology === 'durable' || owned <= replica.generation)
  return isKept ? undefined : `the owner's token ${owned} is ahead of the store`
}

/** A token that was replaced, and whose replacement came, ends the session after the grace, and an older one at once. */
export function findsReuse(state: State, world: World): string | undefined {
  const { owned, master } = state
  if (master.end !== undefined || world.topology === 'unconfirmed') return undefined
  const settled = settle({ ...state, isLinked: true })
  for (let generation = 1; generation < owned; generation++) {
    // A gateway that died with its notes leaves one token that may come again; the theft is found at the next use.
    if (generation === master.generation - 1 && state.isNoteLost) continue
    const { refusal } = use('owner', later({ ...settled, owned: generation }), world)
    if (refusal !== 'reused') return `the owner's old token ${generation} is taken again`
  }
  return undefined
}

/** Within the grace the token just replaced gives the same one again. */
export function repeatsWithinGrace(state: State, world: World): string | undefined {
  const { master } = state
  if (master.end !== undefined || master.generation === 1 || master.acknowledgedAt === 0) return undefined
  if (world.graceMs === 0 && master.acknowledgedAt !== undefined) return undefined
  const repeated = use('owner', { ...state, owned: master.generation - 1 }, world)
  const given = repeated.state.flights.owner?.generation
  return given === master.generation ? undefined : `token ${master.generation - 1} gives ${given}`
}

/** If both go on, one of the next uses ends the session: whichever is first, and whatever happened before. */
export function findsTheThief(state: State, world: World): string | undefined {
  if (state.stolen === 0) return undefined
  for (const order of [
    ['owner', 'thief'],
    ['thief', 'owner'],
  ] as const) {
    if (!isFoundOut(state, world, order)) return `${order[0]} and thief share the session for good`
  }
  return undefined
}

/** Three uses in turn are enough, each after the grace of the previous one. */
function isFoundOut(state: State, world: World, [first, second]: readonly [Actor, Actor]): boolean {
  let now: State = { ...state, isLinked: true, flights: {} }
  for (const actor of [first, second, first]) {
    now = later(settle(now))
    const used = use(actor, now, world)
    if (used.refusal !== undefined) return used.state.master.end !== undefined
    now = deliver(used.state, actor)
  }
  return false
}
