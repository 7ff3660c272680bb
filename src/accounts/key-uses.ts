import { digestText } from '../store/key-digests.ts'
import type { KeyUse, NotedKeyUse } from '../store/key-use.ts'
import type { Store } from '../store/store.ts'
import { digestOf } from './keys.ts'

/**
 * When, from where and how keys were last used. Noted in memory, which costs a request next to nothing, and
 * written every two seconds: what a crash loses is no more than that.
 */
export interface KeyUses {
  /** @param key as it came, and was found to be right */
  note(accountId: string, key: string, address: string, scheme: KeyUse['scheme']): void
  /** Writes what is due now; resolves whether or not the store took it. */
  flush(): Promise<void>
  /** Writes all that was noted. */
  close(): Promise<void>
}

export interface KeyUsesOptions {
  readonly store: Pick<Store, 'noteKeyUses'>
  readonly clock: () => number
  /** Default 2 s. */
  readonly flushMs?: number
}

/**
 * How many keys are written at once, and remembered until they are. With more of them in use each is written
 * less often: 100,000 about every two minutes, at 1,000 writes a second.
 */
const writtenMax = 2_000
const pendingMax = 100_000

interface PendingUse extends Mutable<KeyUse> {
  readonly key: string
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

export function openKeyUses({ store, clock, flushMs = 2_000 }: KeyUsesOptions): KeyUses {
  /**
   * By account, whose ID is the same object at each request and so found at once. Its keys are compared one by
   * one: there are three at most, and to hash a text that has just arrived takes longer.
   */
  const pending = new Map<string, PendingUse[]>()
  let running: Promise<void> | undefined

  function note(accountId: string, key: string, address: string, scheme: KeyUse['scheme']): void {
    const ofAccount = pending.get(accountId)
    const use = ofAccount?.find((one) => one.key === key)
    if (use) {
      use.at = clock()
      use.address = address
      use.scheme = scheme
      return
    }
    const first = { key, at: clock(), address, scheme }
    if (ofAccount) ofAccount.push(first)
    else if (pending.size < pendingMax) pending.set(accountId, [first])
  }

  function take(): readonly NotedKeyUse[] {
    const taken: NotedKeyUse[] = []
    for (const [accountId, ofAccount] of pending) {
      if (taken.length >= writtenMax) break
      pending.delete(accountId)
      for (const { key, ...use } of ofAccount) {
        taken.push({ accountId, digest: digestText({ digest: digestOf(key) }), ...use })
      }
    }
    return taken
  }

  async function write(): Promise<void> {
    const uses = take()
    // With the store out of reach they are lost: of what is gone tomorrow nobody needs to know the second.
    if (uses.length > 0) await store.noteKeyUses(uses).catch(() => {})
  }

  function flush(): Promise<void> {
    running ??= write().finally(() => {
      running = undefined
    })
    return running
  }

  const timer = setInterval(flush, flushMs)
  timer.unref()

  return {
    note,
    flush,
    close: async () => {
      clearInterval(timer)
      await running
      while (pending.size > 0) await write()
    },
  }
}
