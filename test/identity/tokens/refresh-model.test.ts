import t from 'tap'
import { explore, type Promises } from './refresh-model/explore.ts'
import {
  findsReuse,
  findsTheThief,
  keepsTheOwner,
  keepsWhatWasAnswered,
  repeatsWithinGrace,
} from './refresh-model/promises.ts'
import type { Actor, Topology } from './refresh-model/state.ts'

// More than a hundred thousand states: a busy machine takes its time.
t.setTimeout(300_000)

const topologies: Readonly<Record<Topology, string>> = {
  durable: 'on a store that loses nothing',
  replicated: 'with replicas that are waited for',
  unconfirmed: 'on a store that loses its last writes',
}

function all(...promises: readonly Promises[]): Promises {
  return (state, world) => {
    for (const promise of promises) {
      const broken = promise(state, world)
      if (broken !== undefined) return broken
    }
    return undefined
  }
}

const honest = all(keepsTheOwner, keepsWhatWasAnswered, findsReuse, repeatsWithinGrace)

/** As far as a search of seconds goes. */
const most = { generations: 3, failovers: 2, crashes: 1 }
const fewer = { generations: 3, failovers: 1, crashes: 0 }

for (const topology of ['durable', 'replicated', 'unconfirmed'] as const) {
  for (const graceMs of [0, 1] as const) {
    const where = `${topologies[topology]}, ${graceMs === 0 ? 'without a grace' : 'with a grace'}`
    // Without a grace tabs are not to share a session.
    const tabs: readonly Actor[] = graceMs === 0 ? ['owner'] : ['owner', 'tab']

    t.test(`no order of events logs out an owner ${where}`, async (t) => {
      const limits = topology === 'unconfirmed' ? fewer : most
      const { states, broken } = explore({ topology, graceMs, actors: tabs, limits }, honest)
      t.equal(broken, undefined)
      t.ok(states > 500, `${states} states`)
    })

    t.test(`no order of events hides a thief ${where}`, async (t) => {
      const limits = topology === 'durable' ? most : fewer
      const { states, broken } = explore(
        { topology, graceMs, actors: ['owner', 'thief'], limits },
        findsTheThief,
      )
      t.equal(broken, undefined)
      t.ok(states > 500, `${states} states`)
    })
  }
}
