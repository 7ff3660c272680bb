import { type JWTPayload, jwtVerify } from 'jose'
import type { KeySet } from './key-set.ts'

/** What is known after an event. Times are of a clock of the gateway that is never set, in milliseconds. */
interface Beat {
  readonly known: KnownRevocations
  /** When the snapshot was begun. */
  readonly startedAt: number
  /** As of when revocations are complete; null = they never were. */
  readonly asOf: number | null
}

export interface EventReaderOptions {
  readonly keySet: Pick<KeySet, 'find'>
  readonly issuer: string
  readonly algorithms: readonly string[]
  readonly clockToleranceMs: number
  /** What the snapshot has to repeat. */
  readonly nonce: string
}

/** The `typ` of an event; nothing else that is signed with the same keys has it. */
const eventType = 'gatehouse-revocations+jwt'

/**
 * Reads the events of one connection: a snapshot in numbered parts for our nonce, then events of the same feed, each
 * with the next number. So an event that was forged, recorded earlier, dropped or moved is noticed.
 */
export function createEventReader(options: EventReaderOptions) {
  const { keySet, issuer, algorithms, nonce, clockToleranceMs } = options
  let known: KnownRevocations | undefined
  let feed: unknown
  let startedAt = 0
  let sequence = 0
  let part = 0
  let isWhole = false

  function acceptPart({ seq, since, keptMs, ...claims }: JWTPayload): void {
    if (claims.nonce !== nonce || claims.part !== part) throw new Error('not the next part of the snapshot')
    if (typeof seq !== 'number' || typeof since !== 'number' || typeof keptMs !== 'number')
      throw new Error('not a snapshot')
    if (known && (claims.feed !== feed || seq !== sequence)) throw new Error('not the same snapshot')
    if (!known) {
      known = createKnownRevocations({ since, keptMs, clockToleranceMs })
      startedAt = Number(claims.now)
      feed = claims.feed
    }
    sequence = seq
    part++
    isWhole = claims.last === true
  }

  function acceptNext({ seq, ...claims }: JWTPayload): void {
    if (claims.feed !== feed || claims.nonce !== undefined || seq !== sequence + 1)
      throw new Error('not the next event')
    sequence++
  }

  /**
   * Takes the next event.
   * @returns undefined before the whole snapshot has been read
   * @throws if it is forged, or not the one that comes next
   */
  async function readNext(event: string): Promise<Beat | undefined> {
    const { payload } = await jwtVerify(event, keySet.find, {
      issuer,
      algorithms: [...algorithms],
      typ: eventType,
    })
    if (isWhole) acceptNext(payload)
    else acceptPart(payload)
    // The cast is sound: the gateway signed it as an event.
    const { asOf, revoked } = payload as unknown as Pick<Beat, 'asOf'> & { revoked: readonly Revoked[] }
    known?.add(revoked, performance.now())
    return isWhole && known ? { known, startedAt, asOf } : undefined
  }

  return readNext
}

/** What a revocation may concern: claims of an assertion or access token that was verified. */
export interface RevocableClaims {
  readonly sub?: unknown
  readonly sid?: unknown
  readonly iat?: unknown
  /** As of which change the gateway issued it; only in assertions. */
  readonly rev?: unknown
}

/** A revocation, as the gateway sends it. Times are in milliseconds since 1970. */
type Revoked =
  | { readonly sid: string; readonly at: number }
  | { readonly sub: string; readonly rev: number; readonly at: number }

/** Everything that was revoked since some time, for as long as what was issued before may still be valid. */
export interface KnownRevocations {
  /** @param now from which the age of the entries counts, on any clock that cannot be set */
  add(revoked: readonly Revoked[], now: number): void
  /** `unknown` = the claims were issued before the time since which revocations are known. */
  verdict(claims: RevocableClaims): 'valid' | 'revoked' | 'unknown'
}

interface Known {
  readonly at: number
  readonly rev: number
  readonly addedAt: number
}

/** As many as the gateway remembers. If there are more, older assertions are `unknown`. */
const entriesMax = 100_000

export function createKnownRevocations(options: {
  readonly since: number
  readonly keptMs: number
  readonly clockToleranceMs: number
}): KnownRevocations {
  const { keptMs, clockToleranceMs } = options
  let { since } = options
  const accounts = new Map<string, Known>()
  const sessions = new Map<string, Known>()

  function put(known: Map<string, Known>, id: string, entry: Known): void {
    const before = known.get(id)
    known.delete(id)
    known.set(id, {
      ...entry,
      at: Math.max(entry.at, before?.at ?? entry.at),
      rev: Math.max(entry.rev, before?.rev ?? entry.rev),
    })
    for (const [oldest, { at, addedAt }] of known) {
      const isOver = addedAt < entry.addedAt - keptMs
      if (!isOver && known.size <= entriesMax) return
      if (!isOver) since = Math.max(since, at)
      known.delete(oldest)
    }
  }

  /** Times of tokens are in whole seconds, and on the clock of another instance. */
  function mayPrecede(iat: unknown, time: number): boolean {
    return typeof iat !== 'number' || iat * 1_000 <= time + clockToleranceMs
  }

  function isOlder({ iat, rev }: RevocableClaims, change: Known): boolean {
    return typeof rev === 'number' ? rev < change.rev : mayPrecede(iat, change.at)
  }

  return {
    add: (revoked, addedAt) => {
      for (const entry of revoked) {
        if ('sid' in entry) put(sessions, entry.sid, { at: entry.at, rev: 0, addedAt })
        else put(accounts, entry.sub, { at: entry.at, rev: entry.rev, addedAt })
      }
    },
    verdict: (claims) => {
      const { sub, sid, iat } = claims
      const change = typeof sub === 'string' ? accounts.get(sub) : undefined
      const isEnded = typeof sid === 'string' && sessions.has(sid)
      if (isEnded || (change && isOlder(claims, change))) return 'revoked'
      return since > 0 && mayPrecede(iat, since) ? 'unknown' : 'valid'
    },
  }
}

/** An event of the gateway has up to some 100 KiB. */
const charactersMax = 1_048_576

/**
 * The data of each event of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html) as the gateway
 * writes it: one line. The rest of a stream that was cut within an event is dropped.
 * @throws if the stream fails, or an event is too long
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    if (text.length > charactersMax) throw new Error('an event is too long')
    for (const event of events) if (event.startsWith('data: ')) yield event.slice('data: '.length)
  }
}
