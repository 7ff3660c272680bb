import { randomUUID } from 'node:crypto'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { memoizeByObject } from '#platform/memoize.ts'
import { type Clock, type MonotonicClock, monotonicClock } from '#platform/time.ts'
import type { LoggedChange } from '#store/changes.ts'
import { createRecentChanges, type RecentChanges } from '../cache/recent-changes.ts'
import type { StoreConnectionState } from '../cache/store-connection.ts'
import type { AssertionStamps } from './assertion.ts'
import { createJwtSigner } from './jwt.ts'
import type { Keyring } from './keyring.ts'
import type { SigningKey } from './signing-keys.ts'

/** Whoever reads the feed. */
interface FeedReader {
  /** @param event a JWT */
  onEvent(event: string): void
  /** The feed has ended for this reader, who may begin anew. */
  onEnd(): void
}

/**
 * Signed events that tell backends what has been revoked, as soon as it has been, and several times a second up to
 * which moment nothing is missing. The events of a feed are numbered without a gap.
 */
export interface RevocationFeed {
  readonly stamps: AssertionStamps
  /** To be called for each change, once the caches reflect it. */
  apply(change: LoggedChange): void
  /** To be called when the change log has been read. */
  onRead(): void
  /** Makes every reader begin anew, as it is not known what has changed, or the signing keys have changed. */
  restart(reason: 'gap' | 'signing-keys'): void
  /**
   * @param nonce repeated in the snapshot, so that no earlier one can be passed off as the answer
   * @returns the events of the snapshot, to be sent first; each is signed when it is taken
   * @throws GatehouseError `rate-limited` if there are too many readers, `store-unavailable` before the first reading,
   *   `shutting-down` once it is closed
   */
  follow(nonce: string, reader: FeedReader): Iterator<string>
  leave(reader: FeedReader): void
  /** Ends the stream of every reader. Assertions still get their positions. */
  close(): void
}

interface RevocationFeedOptions {
  readonly keyring: Pick<Keyring, 'signer'>
  readonly storeConnection: Readonly<StoreConnectionState>
  readonly issuer: string
  /** For how long after a revocation something that was issued before it may be valid. */
  readonly keptMs: number
  readonly readersMax: number
  /** Called with the difference that a reader makes. */
  onReaders?(difference: 1 | -1): void
  /** Up to where the change log has been applied. */
  position(): number
  readonly clock: Clock
  readonly monotonic?: MonotonicClock
}

/** The `typ` of an event. */
const eventType = 'gatehouse-revocations+jwt'
/** How often readers get an event if nothing was revoked, as long as the change log is read at least as often. */
const beatMs = 250
/** How many revocations an event has at most: about 60 KiB. */
const entriesMax = 500
/** When a reader for whom there was no room may come again. */
const retryMs = 5_000

/** What an event says was revoked: a whole session, or what was issued for a caller before the change `rev`. */
type Entry =
  | { readonly sid: string; readonly at: number }
  | { readonly sub: string; readonly rev: number; readonly at: number }

export function openRevocationFeed(options: RevocationFeedOptions): RevocationFeed {
  const { keyring, storeConnection, issuer, keptMs, readersMax, clock, monotonic = monotonicClock } = options
  const signerOf = memoizeByObject((key: SigningKey) => createJwtSigner(key, eventType))
  const feed = randomUUID()
  const readers = new Set<FeedReader>()
  let accounts: RecentChanges
  let sessions: RecentChanges
  /** Replaced when it is not known what has changed. */
  let era: object
  let sequence = 0
  let sentAt = Number.NEGATIVE_INFINITY
  let unsent: Entry[] = []
  let sending: NodeJS.Immediate | undefined
  let isClosed = false

  function forget(): void {
    accounts = createRecentChanges(keptMs, monotonic)
    sessions = createRecentChanges(keptMs, monotonic)
    era = {}
  }

  function sign(claims: Readonly<Record<string, unknown>>): string {
    const sign = signerOf(keyring.signer(clock()))
    return sign({ iss: issuer, feed, now: monotonic(), asOf: storeConnection.readAt, ...claims })
  }

  function apply({ change, at, position }: LoggedChange): void {
    if (change.kind === 'signing-keys') return
    if (change.kind === 'session') {
      sessions.record(change.sessionId, at, position)
      unsent.push({ sid: change.sessionId, at })
    } else {
      const sub = change.kind === 'account' ? change.accountId : change.principalId
      accounts.record(sub, at, position)
      unsent.push({ sub, rev: position, at })
    }
    if (readers.size === 0) unsent = []
    else sending ??= setImmediate(send)
  }

  function send(): void {
    clearImmediate(sending)
    sending = undefined
    sentAt = monotonic()
    try {
      do {
        const event = sign({ seq: sequence + 1, revoked: unsent.splice(0, entriesMax) })
        sequence++
        for (const reader of readers) reader.onEvent(event)
      } while (unsent.length > 0)
    } catch {
      // There is no signing key. A reader that hears nothing knows that it is not up to date.
      endAll()
    }
  }

  function endAll(): void {
    const ended = [...readers]
    unsent = []
    for (const reader of ended) {
      leave(reader)
      reader.onEnd()
    }
  }

  function leave(reader: FeedReader): void {
    if (readers.delete(reader)) options.onReaders?.(-1)
  }

  function follow(nonce: string, reader: FeedReader): Iterator<string> {
    if (isClosed) throw new GatehouseError('shutting-down')
    if (storeConnection.completeSince === Number.POSITIVE_INFINITY)
      throw new GatehouseError('store-unavailable')
    if (readers.size >= readersMax) {
      throw new GatehouseError('rate-limited', {
        detail: 'The maximum number of readers (tokens.revocationFeed) already follows the revocations.',
        rate: {
          policy: 'readers',
          limit: readersMax,
          windowMs: retryMs,
          remaining: 0,
          resetMs: retryMs,
          retryMs,
        },
      })
    }
    readers.add(reader)
    options.onReaders?.(1)
    return snapshot(nonce, sequence)
  }

  function* snapshot(nonce: string, seq: number): Iterator<string> {
    const known = [accounts, sessions] as const
    const since = Math.max(storeConnection.completeSince, ...known.map((each) => each.forgottenUntil()))
    const entries = entriesOf(...known)
    let part = 0
    let next = entries.next()
    do {
      const revoked: Entry[] = []
      for (; !next.done && revoked.length < entriesMax; next = entries.next()) revoked.push(next.value)
      yield sign({ nonce, seq, since, keptMs, part: part++, last: next.done === true, revoked })
    } while (!next.done)
  }

  forget()
  return {
    stamps: {
      stamp: (accountId) => ({ position: Math.max(options.position(), accounts.positionOf(accountId)), era }),
      covers: (stamp, accountId) => stamp.era === era && accounts.positionOf(accountId) <= stamp.position,
    },
    apply,
    onRead: () => {
      if (readers.size > 0 && (unsent.length > 0 || monotonic() - sentAt >= beatMs)) send()
    },
    restart: (reason) => {
      if (reason === 'gap') forget()
      endAll()
    },
    follow,
    leave,
    close: () => {
      isClosed = true
      endAll()
    },
  }
}

function* entriesOf(accounts: RecentChanges, sessions: RecentChanges): Generator<Entry, undefined> {
  for (const { subject: sub, position: rev, at } of accounts.all()) yield { sub, rev, at }
  for (const { subject: sid, at } of sessions.all()) yield { sid, at }
}
