import { type JWTPayload, jwtVerify } from 'jose'
import type { KeySet } from './key-set.ts'
import { createKnownRevocations, type KnownRevocations, type Revoked } from './known-revocations.ts'

/** What is known after an event. Times are of a clock of the gateway that is never set, in milliseconds. */
interface Beat {
  readonly known: KnownRevocations
  /** When the snapshot was begun. */
  readonly startedAt: number
  /** As of when revocations are complete; null = they never were. */
  readonly asOf: number | null
}

export interface EventReader {
  /**
   * Takes the next event.
   * @returns undefined before the whole snapshot has been read
   * @throws if it is forged, or not the one that comes next
   */
  read(event: string): Promise<Beat | undefined>
}

export interface EventReaderOptions {
  readonly keySet: Pick<KeySet, 'find'>
  readonly issuer: string
  readonly algorithms: readonly string[]
  readonly clockToleranceMs: number
  /** What the snapshot has to repeat. */
  readonly nonce: string
}

/** The `typ` of an event, which nothing else has that is signed with the same keys. */
const eventType = 'gatehouse-revocations+jwt'

/**
 * Reads the events of one connection: a snapshot in numbered parts for our nonce, then events of the same feed, each
 * with the next number. So an event that was forged, recorded earlier, dropped or moved is noticed.
 */
export function createEventReader(options: EventReaderOptions): EventReader {
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

  async function read(event: string): Promise<Beat | undefined> {
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

  return { read }
}
