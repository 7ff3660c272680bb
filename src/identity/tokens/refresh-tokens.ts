import { writeOrLose } from '#platform/errors/gatehouse-error.ts'
import {
  randomText,
  secretPrefixes,
  sessionIdLength,
  sessionIdPattern,
} from '#platform/secrets/key-format.ts'
import { createMac, deriveKeys, type KeySource } from '#platform/secrets/sealing.ts'
import type { RotationAcknowledgement, SessionStore } from '#store/sessions.ts'

/**
 * A refresh token is its session, the number of the rotation, and a MAC over both:
 *
 *     grt_<session ID>_<generation>_<HMAC-SHA256>
 *
 * One that is bound to a key of its client ends with the thumbprint of that key, which the MAC covers too:
 *
 *     grt_<session ID>_<generation>_<HMAC-SHA256>.<thumbprint>
 *
 * It need not be stored, a forged one costs no look-up, and the current one can be issued again.
 */
export interface RefreshTokens {
  /** @param jkt the thumbprint of a key (RFC 7638); undefined = it is not bound to one */
  create(sessionId: string, generation: number, jkt?: string): string
  /** undefined where the text is not one of our tokens. */
  parse(text: string): ParsedRefreshToken | undefined
}

interface ParsedRefreshToken {
  readonly sessionId: string
  readonly generation: number
  /** The key that whoever uses it has to prove to have (RFC 9449 5); undefined = none. */
  readonly jkt: string | undefined
}

const prefix = secretPrefixes.refreshToken
const digest = '([0-9A-Za-z_-]{43})'
const tokenPattern = new RegExp(
  `^${prefix}_(${sessionIdPattern})_([1-9][0-9]{0,8})_${digest}(?:\\.${digest})?$`,
)

export function createSessionId(): string {
  return randomText(sessionIdLength)
}

export function createRefreshTokens(sealingKeys: KeySource): RefreshTokens {
  const signatures = createMac(deriveKeys(sealingKeys, 'refresh-token'))

  /** What is signed. Unambiguous: the session ID has a fixed length and no `_`, the generation has digits only. */
  function signedText(sessionId: string, generation: number | string, jkt?: string): string {
    return `${sessionId}_${generation}${jkt === undefined ? '' : `_${jkt}`}`
  }

  return {
    create: (sessionId, generation, jkt) =>
      `${prefix}_${sessionId}_${generation}_${signatures.sign(signedText(sessionId, generation, jkt))}${jkt === undefined ? '' : `.${jkt}`}`,
    parse: (text) => {
      const [, sessionId, generation, mac, jkt] = tokenPattern.exec(text) ?? []
      if (sessionId === undefined || generation === undefined || mac === undefined) return undefined
      const isOurs = signatures.isValid(signedText(sessionId, generation, jkt), mac)
      return isOurs ? { sessionId, generation: Number(generation), jkt } : undefined
    },
  }
}

/**
 * Records in the store which refresh tokens were delivered. Until that is recorded, the previous token may be reused
 * without limit: a record that cannot be written is kept and retried, and one that is lost with this process does not
 * end a session.
 */
export interface Acknowledgements {
  /** Queues a delivered token: it is written within milliseconds, together with others. */
  enqueue(given: RotationAcknowledgement): void
  /** Writes at once; resolves even if the write failed, which is then retried. */
  writeNow(given: RotationAcknowledgement): Promise<void>
  /** Resolves once what is queued for a session is written, if the store is available. */
  flushSession(sessionId: string): Promise<void>
  /** How many are still unwritten. */
  pendingCount(): number
  /** Writes all that is queued, if the store is available. */
  close(): Promise<void>
}

interface AcknowledgementsOptions {
  readonly store: Pick<SessionStore, 'acknowledgeRotations'>
  /** Called for acknowledgements that will never be written: with the error, and how many. */
  readonly onLoss: (error: unknown, count: number) => void
  /** How soon a write is retried; default 250 ms. */
  readonly retryMs?: number
}

/** How long to wait for more acknowledgements: less than any grace period that is batched. */
const delayMs = 20
/** How many are written in one step, and how many may be queued, which takes about 5 MB. */
const batchMax = 500
export const pendingMax = 20_000

export function openAcknowledgements(options: AcknowledgementsOptions): Acknowledgements {
  const { store, onLoss, retryMs = 250 } = options
  /** By session, as only the current token of each matters. */
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
    // Only the first delivery of a token counts.
    if (known && known.generation >= given.generation) return
    if (known || pending.size < pendingMax) pending.set(given.sessionId, given)
    else onLoss(new Error('refresh-token acknowledgement queue is full'), 1)
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

  /** @returns false where the write failed */
  async function writeAll(): Promise<boolean> {
    while (pending.size > 0) {
      const given = [...pending.values()].slice(0, batchMax)
      if (!(await write(given))) return false
      for (const each of given) if (pending.get(each.sessionId) === each) pending.delete(each.sessionId)
    }
    return true
  }

  function write(given: readonly RotationAcknowledgement[]): Promise<boolean> {
    return writeOrLose(
      () => store.acknowledgeRotations(given),
      (error) => onLoss(error, given.length),
    )
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
