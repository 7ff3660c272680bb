import { keyOf, now, type State, start, type World } from './state.ts'
import { stepsFrom } from './steps.ts'

export interface Exploration {
  /** How many different states there are. */
  readonly states: number
  /** The first of the shortest ways to a state where a promise is broken. */
  readonly broken: { readonly promise: string; readonly way: readonly string[] } | undefined
}

/** @returns what is broken in a state; undefined = nothing */
export type Promises = (state: State, world: World) => string | undefined

/** Visits every state that can be reached, nearest first. */
export function explore(world: World, promises: Promises): Exploration {
  const cameBy = new Map<string, { readonly from: string; readonly step: string }>()
  let frontier: readonly State[] = [start]
  cameBy.set(keyOf(start), { from: '', step: '' })

  function wayTo(state: State): readonly string[] {
    const way: string[] = []
    for (let at = cameBy.get(keyOf(state)); at?.step; at = cameBy.get(at.from)) way.unshift(at.step)
    return way
  }

  while (frontier.length > 0) {
    const next: State[] = []
    for (const state of frontier) {
      const promise = promises(state, world)
      if (promise !== undefined) return { states: cameBy.size, broken: { promise, way: wayTo(state) } }
      const from = keyOf(state)
      for (const [step, after] of stepsFrom(state, world)) {
        // After the grace a client that lost its answer looks like a thief (RFC 9700 4.14.2).
        if (after.master.end !== undefined && isExcused(state, world)) continue
        const key = keyOf(after)
        if (cameBy.has(key)) continue
        cameBy.set(key, { from, step })
        next.push(after)
      }
    }
    frontier = next
  }
  return { states: cameBy.size, broken: undefined }
}

/** Whether an answer was sent to the owner, did not come, and its grace is over. */
export function isExcused({ lost, owned }: State, { graceMs }: World): boolean {
  return lost !== undefined && owned < lost.generation && now >= lost.at + graceMs
}
