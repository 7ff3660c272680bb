import { toCredential } from '../credential.ts'
import { toHttpUrl } from '../http-url.ts'
import { AssertionError } from './assertion-error.ts'
import type { KeySet } from './key-set.ts'
import {
  createEventReader,
  type EventReaderOptions,
  type KnownRevocations,
  type RevocableClaims,
  readEvents,
} from './revocation-events.ts'

/** How a backend follows what its gateway revokes. */
export interface RevocationOptions {
  /** `https://…/api/v1/revocations` of the gateway, which needs `tokens.revocationFeed`. */
  readonly url: string | URL
  /** The credential of an account that `tokens.introspection` of the gateway names, such as `{ SecretKey: '…' }`. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * What is done while it is not known what has been revoked: `refuse` = an AssertionError `revocations-unknown`;
   * `accept` = as if there were no `revocations`. What is known to be revoked is refused in either case. Default:
   * `refuse`.
   */
  readonly onUnknown?: 'refuse' | 'accept'
  /**
   * How long the gateway may be silent until it counts as unknown what has been revoked, in milliseconds: 500 or more,
   * default 1 s. A request that comes in just after that waits as long again for it to become known.
   */
  readonly maxSilenceMs?: number
  /** Default: the global one. */
  readonly fetch?: typeof fetch
  /** Called when it becomes known, or unknown, what has been revoked. */
  readonly onState?: (state: 'current' | 'unknown') => void
  /** Called with the reason why a connection failed or was given up, for the log; another follows within 5 s. */
  readonly onError?: (error: unknown) => void
}

interface FollowOptions extends RevocationOptions, Omit<EventReaderOptions, 'clockToleranceMs' | 'nonce'> {
  readonly keySet: KeySet
  readonly clockToleranceS: number
  readonly clock: () => number
}

interface Revocations {
  /** @throws AssertionError `revoked`, `revocations-unknown` */
  assertNotRevoked(claims: RevocableClaims): Promise<void>
  close(): void
}

/** How long a connection may take until the end of its snapshot; requests wait for the first one. */
const connectMs = 5_000
const firstPauseMs = 100
const pauseMsMax = 5_000

/** The same moment on both clocks: the monotonic one may stand still while the machine is suspended. */
interface Moment {
  readonly now: number
  readonly time: number
}

const never: Moment = { now: Number.NEGATIVE_INFINITY, time: Number.NEGATIVE_INFINITY }

/** Follows the revocations of a gateway from the first use on, over one connection at a time. */
export function createRevocations(options: FollowOptions): Revocations {
  const {
    headers,
    onUnknown = 'refuse',
    maxSilenceMs = 1_000,
    onState,
    onError,
    keySet,
    clockToleranceS,
    clock,
    fetch: send = fetch,
  } = options
  const url = toHttpUrl(options.url, 'revocations.url')
  if (typeof headers !== 'object' || headers === null)
    throw new TypeError('revocations.headers must be an object such as { SecretKey: … }')
  // Only checked, as fetch trims the values of headers itself.
  for (const [name, value] of Object.entries(headers)) toCredential(value, `revocations.headers.${name}`)
  if (!(Number.isFinite(maxSilenceMs) && maxSilenceMs >= 500))
    throw new TypeError('revocations.maxSilenceMs must be a number, 500 or more')
  const closing = new AbortController()
  /** What ends the pauses of requests early. */
  const waiting = new Set<() => void>()
  let known: KnownRevocations | undefined
  /** Until when `known` is complete enough. */
  let currentUntil = never
  let state: 'current' | 'unknown' = 'unknown'
  /** Why the last connection failed; undefined = it did not. */
  let failure: unknown
  /** Until when requests wait for it to become known. */
  let waitUntil = Number.NEGATIVE_INFINITY
  let isStarted = false
  let lapse: ReturnType<typeof setTimeout> | undefined

  function moment(): Moment {
    return { now: performance.now(), time: clock() }
  }

  function isCurrent(): boolean {
    const { now, time } = moment()
    return now < currentUntil.now && time < currentUntil.time
  }

  function setCurrentUntil(until: Moment): void {
    currentUntil = until
    updateState()
  }

  function updateState(): void {
    const next = isCurrent() ? 'current' : 'unknown'
    clearTimeout(lapse)
    // Looked at again, as a timer may fire early by part of a millisecond.
    if (next === 'current') lapse = setTimeout(updateState, currentUntil.now - performance.now() + 1)
    if (state === next) return
    state = next
    if (next === 'current') for (const proceed of waiting) proceed()
    else waitUntil = performance.now() + maxSilenceMs
    onState?.(next)
  }

  async function follow(): Promise<void> {
    let pauseMs = firstPauseMs
    while (!closing.signal.aborted) {
      await readConnection(() => {
        pauseMs = firstPauseMs
        failure = undefined
      }).catch((error: unknown) => {
        if (closing.signal.aborted) return
        failure = error
        onError?.(error)
      })
      await pause(pauseMs * (0.5 + Math.random() / 2), closing.signal)
      pauseMs = Math.min(pauseMs * 2, pauseMsMax)
    }
  }

  /** Until the connection ends. @throws why it does */
  async function readConnection(onCurrent: () => void): Promise<void> {
    const connection = new AbortController()
    const signal = AbortSignal.any([connection.signal, closing.signal])
    let silence: ReturnType<typeof setTimeout> | undefined
    const allow = (ms: number) => {
      clearTimeout(silence)
      silence = setTimeout(() => connection.abort(new Error('the gateway is silent')), ms)
    }
    allow(connectMs)
    try {
      // Each time, as a signing key may have been retired.
      await keySet.read()
      for await (const until of readBeats(signal)) {
        setCurrentUntil(until)
        if (!isCurrent()) continue
        // Twice as long: a process that was stalled can still read what has arrived meanwhile.
        allow(2 * maxSilenceMs)
        onCurrent()
      }
    } finally {
      clearTimeout(silence)
      connection.abort()
    }
  }

  /** For each event, until when the known revocations are complete enough. */
  async function* readBeats(signal: AbortSignal): AsyncGenerator<Moment> {
    const nonce = crypto.randomUUID()
    const target = new URL(url)
    target.searchParams.set('nonce', nonce)
    const sent = moment()
    const response = await send(target, { headers, signal, redirect: 'error', cache: 'no-store' })
    if (response.status !== 200 || !response.body)
      throw new Error(`the gateway answered ${response.status} at ${target.pathname}`)
    const readNext = createEventReader({ ...options, clockToleranceMs: clockToleranceS * 1_000, nonce })
    let startedAt: number | undefined
    for await (const event of readEvents(response.body)) {
      const beat = await readNext(event).catch((error: unknown) => {
        // It is unknown at once what was revoked, as the event that had to come did not.
        setCurrentUntil(never)
        throw error
      })
      if (!beat) continue
      known = beat.known
      startedAt ??= beat.startedAt
      // The first event was made after we had asked: its age is at most what has passed here since.
      const sinceSent = (beat.asOf ?? Number.NEGATIVE_INFINITY) - startedAt + maxSilenceMs
      yield { now: sent.now + sinceSent, time: sent.time + sinceSent }
    }
  }

  /** Waits for it to become known, if it has only just become unknown. */
  function settle(): Promise<void> {
    updateState()
    return state === 'current'
      ? Promise.resolve()
      : pause(waitUntil - performance.now(), closing.signal, waiting)
  }

  async function assertNotRevoked(claims: RevocableClaims): Promise<void> {
    if (!isStarted) {
      isStarted = true
      waitUntil = performance.now() + connectMs
      void follow()
    }
    await settle()
    const verdict = known?.verdict(claims) ?? 'unknown'
    if (verdict === 'revoked') throw new AssertionError('revoked')
    if (onUnknown === 'refuse' && (verdict === 'unknown' || !isCurrent()))
      throw new AssertionError('revocations-unknown', failure)
  }

  return {
    assertNotRevoked,
    close: () => {
      closing.abort()
      setCurrentUntil(never)
    },
  }
}

/** @param interrupters contains, while the pause lasts, a function that ends it early */
function pause(waitMs: number, signal: AbortSignal, interrupters?: Set<() => void>): Promise<void> {
  if (waitMs <= 0 || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(end, waitMs)
    function end(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      interrupters?.delete(end)
      resolve()
    }
    signal.addEventListener('abort', end)
    interrupters?.add(end)
  })
}
