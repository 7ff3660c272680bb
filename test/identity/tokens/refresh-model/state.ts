import type { Session } from '#store/sessions.ts'
import { newAccount } from '../../../store/samples.ts'

/** What keeps the sessions, and what it loses where the master is lost. */
export type Topology =
  /** One store that loses nothing it has answered, such as SQLite. */
  | 'durable'
  /** A master and a replica; an answer waits until the replica has what was written. */
  | 'replicated'
  /** A master and a replica that nobody waits for. */
  | 'unconfirmed'

export interface World {
  readonly topology: Topology
  /** 0, or 1: the time that a `tick` takes. */
  readonly graceMs: 0 | 1
  /** Two tabs of the owner that share what they hold, or the owner and a thief. */
  readonly actors: readonly Actor[]
  readonly limits: { readonly generations: number; readonly failovers: number; readonly crashes: number }
}

export type Actor = 'owner' | 'tab' | 'thief'

/** A request on its way: `done` on the master, `safe` where a failover cannot undo it any more. */
export interface Flight {
  readonly stage: 'done' | 'safe'
  /** The refresh token to be given out. */
  readonly generation: number
  /** Whether it is to be acknowledged: the store does not know yet that somebody has it. */
  readonly isNew: boolean
  /** With a strict grace it is noted before the answer. */
  readonly isNoted: boolean
}

/** A token that was given out at a time. */
export interface Given {
  readonly generation: number
  readonly at: number
}

/** One moment: the session in the store, the gateway, and who holds what. The time is always 1. */
export interface State {
  readonly master: Session
  readonly replica: Session
  readonly isLinked: boolean
  /** What the gateway has noted and the store does not have for certain. */
  readonly noted: Given | undefined
  readonly flights: Readonly<Partial<Record<Actor, Flight>>>
  /** The newest token that the owner has; 0 for a thief that has none yet. */
  readonly owned: number
  readonly stolen: number
  /** An answer that was sent and never came: after the grace its loss is the client's. */
  readonly lost: Given | undefined
  /** Whether a gateway has died with notes: then a token that was replaced may come again. */
  readonly isNoteLost: boolean
  readonly failovers: number
  readonly crashes: number
}

export const now = 1
const far = Number.MAX_SAFE_INTEGER

export const account = newAccount()
export const visitor = { address: '', userAgent: '' }

const session: Session = {
  id: 's',
  accountId: account.id,
  createdAt: now,
  expiresAt: far,
  generation: 1,
  rotatedAt: now,
  acknowledgedAt: now,
  sessionEpoch: account.sessionEpoch,
  keyId: account.secretKeys[0]?.id ?? '',
  end: undefined,
  ...visitor,
}

export const start: State = {
  master: session,
  replica: session,
  isLinked: true,
  noted: undefined,
  flights: {},
  owned: 1,
  stolen: 0,
  lost: undefined,
  isNoteLost: false,
  failovers: 0,
  crashes: 0,
}

/** A tick later: times move into the past instead, as far as it matters. */
export function later(state: State): State {
  const { master, replica, noted, lost } = state
  return { ...state, master: older(master), replica: older(replica), noted: past(noted), lost: past(lost) }
}

function older(session: Session): Session {
  const acknowledgedAt = session.acknowledgedAt === undefined ? undefined : 0
  return { ...session, rotatedAt: 0, acknowledgedAt }
}

function past(given: Given | undefined): Given | undefined {
  return given && { ...given, at: 0 }
}

/** Equal for states that are equal. */
export function keyOf(state: State): string {
  const { master, replica, noted, lost, isLinked, owned, stolen, isNoteLost, failovers, crashes } = state
  const { owner, tab, thief } = state.flights
  const stored = `${keyOfSession(master)};${keyOfSession(replica)}`
  const given = `${noted?.generation},${noted?.at};${lost?.generation},${lost?.at}`
  const flying = `${keyOfFlight(owner)};${keyOfFlight(tab)};${keyOfFlight(thief)}`
  return `${stored};${given};${flying};${isLinked};${owned};${stolen};${isNoteLost};${failovers};${crashes}`
}

function keyOfSession({ generation, rotatedAt, acknowledgedAt, end }: Session): string {
  return `${generation},${rotatedAt},${acknowledgedAt},${end}`
}

function keyOfFlight(flight: Flight | undefined): string {
  return flight ? `${flight.stage},${flight.generation},${flight.isNew},${flight.isNoted}` : ''
}
