import { writeOrLose } from '#platform/errors/gatehouse-error.ts'
import { digestOf } from '#platform/secrets/keys.ts'
import { copyString } from '#platform/text.ts'
import type { Clock } from '#platform/time.ts'
import { digestText, type KeyStore, type KeyUse, type RecordedKeyUse } from '#store/keys.ts'

/**
 * When, from where and how keys were last used. Uses are recorded in memory, which costs a request next to nothing, and
 * written twice a second: a crash loses no more than that.
 */
export interface KeyUses {
  /** @param key as received, or its digest as base64url; already authenticated */
  record(accountId: string, key: string, address: string, scheme: KeyUse['scheme'], isDigest?: boolean): void
  /** Writes what is due now; resolves even if the write fails. */
  flush(): Promise<void>
  /** Writes all that was recorded, if the store is available. */
  close(): Promise<void>
}

interface KeyUsesOptions {
  readonly store: Pick<KeyStore, 'recordKeyUses'>
  readonly clock: Clock
  /** Called when uses are dropped because the store failed to write them for another reason than an outage. */
  onLoss(error: unknown): void
  /** Default 500 ms. */
  readonly flushMs?: number
}

/**
 * How many accounts are written at once, which takes SQLite or Redis some milliseconds, and how many may wait to be
 * written. The more accounts are in use, the less often each is written: with 100,000, every eight minutes or so, at
 * 200 writes a second.
 */
const batchMax = 100
const pendingMax = 100_000

interface PendingUse extends Mutable<KeyUse> {
  readonly key: string
  readonly isDigest: boolean
}

type PendingAccountUses = readonly [accountId: string, uses: PendingUse[]]

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

export function openKeyUses({ store, clock, onLoss, flushMs = 500 }: KeyUsesOptions): KeyUses {
  /**
   * By account ID, which is the same string object at each request, so that look-ups are fast. An account's keys are
   * compared one by one: most accounts use few, `keys.maxPerAccount` at most, and hashing a text that has just
   * arrived takes longer.
   */
  const pending = new Map<string, PendingUse[]>()
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function record(
    accountId: string,
    key: string,
    address: string,
    scheme: KeyUse['scheme'],
    isDigest = false,
  ): void {
    const accountUses = pending.get(accountId)
    if (accountUses) {
      for (const use of accountUses) {
        if (use.key !== key) continue
        use.at = clock()
        if (use.address !== address) use.address = copyString(address)
        use.scheme = scheme
        return
      }
    }
    // Copies: a slice of a request's head would keep the whole head in memory.
    const first = { key: copyString(key), at: clock(), address: copyString(address), scheme, isDigest }
    if (accountUses) accountUses.push(first)
    else if (pending.size < pendingMax) pending.set(accountId, [first])
    flushSoon()
  }

  /** A timer only while something is pending: it wakes no idle process. */
  function flushSoon(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      void flush()
    }, flushMs).unref()
  }

  function takeBatch(): readonly PendingAccountUses[] {
    const taken: PendingAccountUses[] = []
    for (const entry of pending) {
      if (taken.length >= batchMax) break
      taken.push(entry)
      pending.delete(entry[0])
    }
    return taken
  }

  /**
   * What an outage keeps from being written is kept for the next time, unless the key was used again meanwhile.
   * @returns false where the store is unavailable
   */
  async function write(): Promise<boolean> {
    const taken = takeBatch()
    if (taken.length === 0) return true
    const isDone = await writeOrLose(() => store.recordKeyUses(taken.flatMap(toRecordedUses)), onLoss)
    if (!isDone) for (const each of taken) requeue(each)
    return isDone
  }

  function requeue([accountId, uses]: PendingAccountUses): void {
    const newer = pending.get(accountId)
    if (newer) newer.push(...uses.filter(({ key }) => !newer.some((use) => use.key === key)))
    else pending.set(accountId, uses)
  }

  function flush(): Promise<void> {
    running ??= write()
      .then(() => {})
      .finally(() => {
        running = undefined
        if (pending.size > 0 && !isClosed) flushSoon()
      })
    return running
  }

  return {
    record,
    flush,
    close: async () => {
      isClosed = true
      clearTimeout(timer)
      await running
      while (pending.size > 0 && (await write())) {}
    },
  }
}

function toRecordedUses([accountId, uses]: PendingAccountUses): readonly RecordedKeyUse[] {
  return uses.map(({ key, isDigest, ...use }) => ({
    accountId,
    digest: isDigest ? key : digestText({ digest: digestOf(key) }),
    ...use,
  }))
}
