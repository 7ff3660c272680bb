import { errorMessage } from '#platform/errors/operator-error.ts'
import type { EpochMs } from '#platform/time.ts'
import type { EventStore, PositionedEntry } from '#store/audit.ts'
import { type AuditEntry, parseAuditEntry } from '#store/audit-entry.ts'
import { type EventMessage, eventMessage } from './event-message.ts'
import { eventTypesOf } from './event-types.ts'
import {
  dueAtOnce,
  entryPauseMs,
  keptMs,
  type Receiver,
  type ReceiverState,
  receiverPauseMs,
  type WaitingEntry,
  waitingMax,
} from './receiver.ts'

export type DeliveryResult = 'delivered' | 'failed' | 'dropped'

interface RoundOptions {
  readonly store: Pick<EventStore, 'readAuditAfter'>
  readonly receiver: Receiver
  readonly now: EpochMs
  onResult(result: DeliveryResult, messages: number): void
}

interface Round {
  readonly next: ReceiverState
  /** How many of the entries that the receiver wants it has now moved past. */
  readonly passed: number
  /** Whether the next state has to be stored: something was sent or dropped, or has begun to wait. */
  readonly isChanged: boolean
  /** Whether the end of the log was reached. */
  readonly isAtEnd: boolean
}

/** An entry that the receiver wants, and the messages to send for it: at least one. */
interface Candidate {
  readonly place: WaitingEntry
  readonly entry: AuditEntry
  readonly messages: readonly EventMessage[]
}

/** How many entries are sent at once, each of a different account; and how many are read to find these. */
const atOnceMax = 8
const readMax = 200

/**
 * Sends what is due, and waits for the answers. An entry that is refused waits for its next try, and so do later ones
 * of the same account, while those of other accounts are sent. A receiver that accepts nothing is sent one entry at a
 * time, after pauses that grow.
 */
export async function deliverRound(options: RoundOptions, state: ReceiverState): Promise<Round> {
  const { now } = options
  if (now < state.nextAt) return { next: state, passed: 0, isChanged: false, isAtEnd: false }
  const sentMax = state.failures > 0 ? 1 : atOnceMax
  const due = await readDue(options, state, sentMax)
  const taken = await takeNew(
    options,
    { ...state, waiting: due.waiting },
    due.batch,
    sentMax - due.batch.length,
  )
  const batch = [...due.batch, ...taken.batch]
  const refusals = await sendAll(options, batch)
  const waiting = mergeWaiting(taken.waiting, batch, refusals, now)
  const next = {
    ...state,
    position: taken.position,
    waiting,
    dropped: state.dropped + due.dropped + taken.dropped,
  }
  const isChanged =
    batch.length > 0 || next.waiting.length !== state.waiting.length || next.dropped !== state.dropped
  const { passed, isAtEnd } = taken
  return { next: settle(next, { batch, refusals, now }), passed, isChanged, isAtEnd }
}

/** Waiting entries that may be tried now, the first of each account. Drops what was refused for too long. */
async function readDue(options: RoundOptions, state: ReceiverState, max: number) {
  const { now } = options
  const batch: Candidate[] = []
  const waiting: WaitingEntry[] = []
  const seen = new Set<string>()
  let dropped = 0
  for (const place of state.waiting) {
    const isFirst = !seen.has(place.account)
    if (!isFirst || batch.length >= max || now < place.nextAt) {
      seen.add(place.account)
      waiting.push(place)
      continue
    }
    const candidate = await readCandidate(options, place)
    // Retention has removed it, or the receiver does not want it any more.
    if (!candidate) continue
    if (isExpired(candidate, state, now)) {
      dropped += drop(options, candidate)
      continue
    }
    seen.add(place.account)
    batch.push(candidate)
  }
  return { batch, waiting, dropped }
}

/** New entries, until as many are taken as may be sent, or one has to wait for an earlier one of its account. */
async function takeNew(options: RoundOptions, state: ReceiverState, due: readonly Candidate[], max: number) {
  const taken = {
    batch: [] as Candidate[],
    waiting: [...state.waiting],
    position: state.position,
    passed: 0,
    dropped: 0,
    isAtEnd: false,
  }
  if (max <= 0 || state.waiting.length + due.length >= waitingMax) return taken
  const page = await options.store.readAuditAfter({ after: state.position, limit: readMax })
  const busy = new Set(due.map(({ place }) => place.account))
  const blocked = new Set(state.waiting.map(({ account }) => account))
  const isFull = () =>
    taken.batch.length >= max || taken.waiting.length + due.length + taken.batch.length >= waitingMax
  for (const positioned of page) {
    const candidate = toCandidate(options.receiver, positioned, taken.position)
    if (candidate) {
      const { account } = candidate.place
      if (isExpired(candidate, state, options.now)) taken.dropped += drop(options, candidate)
      else if (isFull()) return taken
      else if (blocked.has(account)) taken.waiting.push(candidate.place)
      else if (busy.has(account)) return taken
      else {
        busy.add(account)
        taken.batch.push(candidate)
      }
      taken.passed++
    }
    taken.position = positioned.position
  }
  taken.isAtEnd = page.length < readMax
  return taken
}

async function readCandidate(
  { store, receiver }: RoundOptions,
  place: WaitingEntry,
): Promise<Candidate | undefined> {
  const [positioned] = await store.readAuditAfter({ after: place.after, limit: 1 })
  if (positioned?.position !== place.position) return undefined
  const candidate = toCandidate(receiver, positioned, place.after)
  return candidate && { ...candidate, place }
}

/** @returns undefined where the receiver does not want the entry */
function toCandidate(receiver: Receiver, positioned: PositionedEntry, after: string): Candidate | undefined {
  const entry = parseAuditEntry(positioned.text)
  const types = eventTypesOf(entry).filter(receiver.wants)
  if (types.length === 0) return undefined
  const account = entry.target?.id ?? ''
  return {
    place: { after, position: positioned.position, account, attempts: 0, nextAt: 0, refusedAt: 0 },
    entry,
    messages: types.map((type) => eventMessage(positioned, type, entry)),
  }
}

/**
 * Whether the entry was refused when it had become too old, or the receiver was still failing then. Age alone is not
 * enough: after a long stop of the gateway, old entries are still sent.
 */
function isExpired(
  { place, entry }: Candidate,
  { failures, failedAt }: ReceiverState,
  now: EpochMs,
): boolean {
  const lastRefusedAt = failures > 0 ? Math.max(place.refusedAt, failedAt) : place.refusedAt
  return now - entry.at > keptMs && lastRefusedAt - entry.at > keptMs
}

function drop({ onResult }: RoundOptions, { messages }: Candidate): number {
  onResult('dropped', messages.length)
  return messages.length
}

/** @returns why entries were refused, by position */
async function sendAll(
  { receiver, onResult }: RoundOptions,
  batch: readonly Candidate[],
): Promise<ReadonlyMap<string, string>> {
  const refusals = new Map<string, string>()
  await Promise.all(
    batch.map(async ({ place, messages }) => {
      for (const message of messages) {
        try {
          await receiver.deliver(message)
          onResult('delivered', 1)
        } catch (error) {
          onResult('failed', 1)
          refusals.set(place.position, errorMessage(error))
          return
        }
      }
    }),
  )
  return refusals
}

/** The entries that wait now: those of each account stay in the order of the log. */
function mergeWaiting(
  waiting: readonly WaitingEntry[],
  batch: readonly Candidate[],
  refusals: ReadonlyMap<string, string>,
  now: EpochMs,
): readonly WaitingEntry[] {
  const refused = batch.flatMap(({ place }) => {
    if (!refusals.has(place.position)) return []
    const attempts = place.attempts + 1
    return [{ ...place, attempts, nextAt: now + entryPauseMs(attempts), refusedAt: now }]
  })
  // Refused entries come before all others of their accounts, and accounts have no order among themselves.
  return [...refused, ...waiting]
}

interface Sent {
  readonly batch: readonly Candidate[]
  readonly refusals: ReadonlyMap<string, string>
  readonly now: EpochMs
}

function settle(next: ReceiverState, { batch, refusals, now }: Sent): ReceiverState {
  if (batch.length === 0) return next
  const [reason] = refusals.values()
  const noted = reason === undefined ? next : { ...next, failedAt: now, reason }
  if (refusals.size === batch.length) {
    const failures = next.failures + 1
    return { ...noted, failures, nextAt: now + receiverPauseMs(failures) }
  }
  // The receiver was down and is up again, so nothing has to wait for its next try.
  const waiting = next.failures > 1 ? dueAtOnce(next.waiting) : next.waiting
  return { ...noted, waiting, failures: 0, nextAt: 0, deliveredAt: now }
}
