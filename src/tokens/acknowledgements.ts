import { isStoreUnavailable } from '../errors/gatehouse-error.ts'
import type { RotationAcknowledgement, SessionStore } from '../store/sessions.ts'

/**
 * Tells the store which refresh tokens were given out. Until it knows, the token before may come again without limit:
 * so what it does not take is kept and offered again, and what is lost with this process ends no session.
 */
export interface Acknowledgements {
  /** Notes a token that was given out: it is written within milliseconds, together with others. */
  enqueue(given: RotationAcknowledgement): void
  /** Writes at once; resolves even if the store did not take it, which is then offered again. */
  writeNow(given: RotationAcknowledgement): Promise<void>
  /** Resolves once what was noted of a session is written, if the store takes notes at present. */
  flushSession(sessionId: string): Promise<void>
  /** How many the store does not have yet. */
  pendingCount(): number
  /** Writes all that was noted, if the store takes it. */
  close(): Promise<void>
}

export interface AcknowledgementsOptions {
  readonly store: Pick<SessionStore, 'acknowledgeRotations'>
  /** Told of what will never be written: by what fault, and how many. */
  readonly onLoss: (error: unknown, count: number) => void
  /** How long more are waited for; default 20 ms, less than any grace for which they may wait. */
  readonly delayMs?: number
  /** How soon it is tried again; default 250 ms. */
  readonly retryMs?: number
}

/** How many are written in one step, and how many may wait, which takes some 5 MB. */
const batchMax = 500
export const pendingMax = 20_000

export function openAcknowledgements(options: AcknowledgementsOptions): Acknowledgements {
  const { store, onLoss, delayMs = 20, retryMs = 250 } = options
  /** By session: only the current token of each matters. */
  const pending = new Map<string, RotationAcknowledgement>()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isRefused = false

  function enqueue(given: RotationAcknowledgement): void {
    put(given)
    schedule(delayMs)
  }

  function put(given: RotationAcknowledgement): void {
    const known = pending.get(given.sessionId)
    // Of one token the first time counts.
    if (known && known.generation >= given.generation) return
    if (known || pending.size < pendingMax) pending.set(given.sessionId, given)
    else onLoss(new Error('too many acknowledgements of refresh tokens are waiting for the store'), 1)
  }

  function schedule(afterMs: number): void {
    if (running) return
    timer ??= setTimeout(flush, afterMs).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    running ??= writeAll().then((isDone) => {
      running = undefined
      isRefused = !isDone
      if (pending.size > 0) schedule(isDone ? delayMs : retryMs)
    })
    return running
  }

  async function flushSession(sessionId: string): Promise<void> {
    if (pending.has(sessionId) && !isRefused) await flush()
  }

  /** @returns false where the store did not take them */
  async function writeAll(): Promise<boolean> {
    while (pending.size > 0) {
      const given = [...pending.values()].slice(0, batchMax)
      if (!(await write(given))) return false
      for (const each of given) if (pending.get(each.sessionId) === each) pending.delete(each.sessionId)
    }
    return true
  }

  async function write(given: readonly RotationAcknowledgement[]): Promise<boolean> {
    try {
      await store.acknowledgeRotations(given)
    } catch (error) {
      if (isStoreUnavailable(error)) return false
      onLoss(error, given.length)
    }
    return true
  }

  async function writeNow(given: RotationAcknowledgement): Promise<void> {
    if (!(await write([given]))) enqueue(given)
  }

  return {
    enqueue,
    writeNow,
    flushSession,
    pendingCount: () => pending.size,
    close: async () => {
      clearTimeout(timer)
      await running
      clearTimeout(timer)
      await writeAll()
    },
  }
}
