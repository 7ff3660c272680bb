import { decideRotation, type RotationRefusal } from '#store/sessions.ts'
import {
  type Actor,
  account,
  type Flight,
  type Given,
  later,
  now,
  type State,
  visitor,
  type World,
} from './state.ts'

/** What can happen at a moment: its name, and the state after it. */
export type Step = readonly [name: string, state: State]

/** Everything that can happen next. */
export function stepsFrom(state: State, world: World): readonly Step[] {
  const ofActors = world.actors.flatMap((actor) => stepsOf(actor, state, world))
  return [...ofActors, ...stepsOfGateway(state, world), ...stepsOfStore(state, world), ['tick', later(state)]]
}

function stepsOf(actor: Actor, state: State, world: World): readonly Step[] {
  const flight = state.flights[actor]
  if (!flight) {
    const steps: Step[] = []
    if (actor === 'thief' && state.stolen < state.owned) {
      steps.push(['thief steals', { ...state, stolen: state.owned }])
    }
    const held = heldBy(actor, state)
    if (held > 0 && held < world.limits.generations) {
      steps.push([`${actor} refreshes with ${held}`, use(actor, state, world).state])
    }
    return steps
  }
  const idle = withFlight(state, actor, undefined)
  if (flight.stage === 'done') {
    const steps: Step[] = [[`${actor} gets 503`, idle]]
    const safe = confirmed(state, world)
    if (safe) steps.push([`${actor} is confirmed`, withFlight(safe, actor, { ...flight, stage: 'safe' })])
    return steps
  }
  if (world.graceMs === 0 && flight.isNew && !flight.isNoted) {
    const noted = withFlight(note(state, flight), actor, { ...flight, isNoted: true })
    return [[`${actor}'s token is noted`, noted]]
  }
  const steps: Step[] = [
    [`${actor} gets the answer`, receive(actor, noteOnce(idle, flight), flight)],
    [`${actor} never gets the answer`, lose(actor, noteOnce(idle, flight), flight)],
  ]
  // Before anything is sent: with a strict grace it has been noted already.
  if (!flight.isNoted) steps.push([`${actor} is gone`, idle])
  return steps
}

function stepsOfGateway(state: State, { limits }: World): readonly Step[] {
  const steps: Step[] = []
  const { noted } = state
  if (noted && written(state, noted) !== state) steps.push(['notes are written', written(state, noted)])
  if (state.crashes < limits.crashes) steps.push(['the gateway dies', die(state)])
  return steps
}

/** A waiting caller gets no answer; a recorded token counts as issued, though no client has it. */
function die(state: State): State {
  const notedFlights = Object.values(state.flights).filter(({ isNoted }) => isNoted)
  const [orphan] = notedFlights.toSorted((a, b) => b.generation - a.generation)
  const lost = orphan ? laterOf(state.lost, { generation: orphan.generation, at: now }) : state.lost
  const isNoteLost = state.isNoteLost || state.noted !== undefined
  return { ...state, flights: {}, noted: undefined, lost, isNoteLost, crashes: state.crashes + 1 }
}

function stepsOfStore(state: State, world: World): readonly Step[] {
  if (world.topology === 'durable') return noteTaken(state, world)
  const steps: Step[] = [...noteTaken(state, world)]
  if (state.isLinked) {
    steps.push(['the replica follows', { ...state, replica: state.master }])
    steps.push(['the replica is gone', { ...state, isLinked: false }])
  } else steps.push(['the replica is back', { ...state, isLinked: true, replica: state.master }])
  if (state.failovers < world.limits.failovers) {
    const failed = { ...state, flights: safeOnly(state), failovers: state.failovers + 1, isLinked: false }
    steps.push(['the master is lost', { ...failed, master: state.replica }])
  }
  return steps
}

/** What was noted is in the store. */
export function settle(state: State): State {
  return state.noted ? { ...written(state, state.noted), noted: undefined } : state
}

/** The actor gets the answer, and the store learns of it. */
export function deliver(state: State, actor: Actor): State {
  const flight = state.flights[actor]
  if (!flight) return state
  return settle(receive(actor, noteOnce(withFlight(state, actor, undefined), flight), flight))
}

/** The store has the notes for certain. */
function noteTaken(state: State, world: World): readonly Step[] {
  const { noted } = state
  const safe = noted && confirmed(written(state, noted), world)
  return safe ? [['notes are taken', { ...safe, noted: undefined }]] : []
}

function safeOnly({ flights }: State): State['flights'] {
  return Object.fromEntries(Object.entries(flights).filter(([, { stage }]) => stage === 'safe'))
}

/** One use of the token that an actor holds, as an adapter carries it out. */
export function use(
  actor: Actor,
  state: State,
  { graceMs }: World,
): { readonly state: State; readonly refusal: RotationRefusal | undefined } {
  const generation = heldBy(actor, state)
  const idleMs = Number.MAX_SAFE_INTEGER
  const { master } = state
  const asked = { sessionId: master.id, generation, now, graceMs, idleMs, visitor }
  const verdict = decideRotation(asked, master, account)
  if (verdict.kind === 'refuse') return { state, refusal: verdict.reason }
  if (verdict.kind === 'reuse')
    return { state: { ...state, master: { ...master, end: 'reused' } }, refusal: 'reused' }
  const { session } = verdict
  const isNew = session.acknowledgedAt === undefined
  const flight: Flight = { stage: 'done', generation: session.generation, isNew, isNoted: false }
  return { state: withFlight({ ...state, master: session }, actor, flight), refusal: undefined }
}

function heldBy(actor: Actor, { owned, stolen }: State): number {
  return actor === 'thief' ? stolen : owned
}

/** @returns undefined where what is on the master is not confirmed */
function confirmed(state: State, { topology }: World): State | undefined {
  if (topology !== 'replicated') return state
  return state.isLinked ? { ...state, replica: state.master } : undefined
}

function withFlight(state: State, actor: Actor, flight: Flight | undefined): State {
  const { [actor]: _, ...others } = state.flights
  return { ...state, flights: flight ? { ...others, [actor]: flight } : others }
}

function noteOnce(state: State, flight: Flight): State {
  return flight.isNew && !flight.isNoted ? note(state, flight) : state
}

function note(state: State, { generation }: Flight): State {
  if (state.noted && state.noted.generation >= generation) return state
  const noted = { generation, at: now }
  // With others it is written soon; that it is written at once is one of the steps that may follow.
  return { ...state, noted }
}

function written(state: State, { generation, at }: Given): State {
  const { master } = state
  if (master.generation !== generation || master.acknowledgedAt !== undefined) return state
  return { ...state, master: { ...master, acknowledgedAt: at } }
}

function receive(actor: Actor, state: State, { generation }: Flight): State {
  if (actor === 'thief') return { ...state, stolen: Math.max(state.stolen, generation) }
  return { ...state, owned: Math.max(state.owned, generation) }
}

function lose(actor: Actor, state: State, { generation }: Flight): State {
  if (actor === 'thief') return state
  return { ...state, lost: laterOf(state.lost, { generation, at: now }) }
}

function laterOf(known: Given | undefined, given: Given): Given {
  return known && known.generation >= given.generation ? known : given
}
