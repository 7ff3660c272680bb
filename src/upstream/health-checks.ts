import { foldHeaderName } from '../platform/header-name.ts'
import type { ExchangeEvents } from './exchange.ts'
import type { UpstreamFailure } from './failure.ts'
import type { ActiveCheckOptions } from './health.ts'
import type { Acquisition, ConnectionReceiver } from './pool.ts'
import type { ResponseHead } from './response-head.ts'
import type { Target } from './target.ts'
import type { UpstreamConnection } from './upstream-connection.ts'
import type { UpstreamHeaders } from './upstream-headers.ts'

/**
 * Checks targets periodically: each once an interval, spread over the interval, never with two checks at a time.
 * @param headers what the upstream gets; it is also in the checks
 * @returns stops the checks
 */
export function openHealthChecks(
  targets: readonly Target[],
  options: ActiveCheckOptions,
  headers: UpstreamHeaders | undefined,
): () => void {
  const headerLines = checkHeaderLines(headers)
  const stops = targets.map((target, index) => {
    // Processes that start together must not all check at the same moment.
    const share = (index + Math.random()) / targets.length
    return checkRepeatedly(target, { ...options, headerLines }, share * options.intervalMs)
  })
  return () => {
    for (const stop of stops) stop()
  }
}

/** The header lines of each check, all but Host. */
function checkHeaderLines(headers: UpstreamHeaders | undefined): string {
  const lines = ['User-Agent: gatehouse', 'Accept: */*'].filter(
    (line) => headers?.replacedNames.has(foldHeaderName(line.split(':', 1)[0] ?? '')) !== true,
  )
  return [...lines, 'Connection: close', headers?.lines ?? ''].join('\r\n')
}

function checkRepeatedly(
  target: Target,
  options: CheckOptions & Pick<ActiveCheckOptions, 'intervalMs'>,
  firstAfterMs: number,
): () => void {
  let check: HealthCheck | undefined
  let timer = setTimeout(begin, firstAfterMs).unref()

  function begin(): void {
    const begunAt = performance.now()
    // The result is known with the head: a slow body may still be arriving.
    check?.cancel()
    check = new HealthCheck(target, options, (result) => {
      if (result !== 'unknown') target.health?.recordCheck(result === 'healthy' ? undefined : result.failure)
      const waitMs = Math.max(0, options.intervalMs - (performance.now() - begunAt))
      timer = setTimeout(begin, waitMs).unref()
    })
    check.start()
  }

  return function stop() {
    clearTimeout(timer)
    check?.cancel()
  }
}

/** No more of a body is read, as it does not matter. */
const bodyBytesMax = 65_536

/** The state of the target, with the reason for the log if it is unhealthy; `unknown` = it could not be asked. */
type CheckResult = 'healthy' | 'unknown' | { readonly failure: string }

interface CheckOptions extends Pick<ActiveCheckOptions, 'path' | 'timeoutMs'> {
  readonly headerLines: string
}

/**
 * One health check of a target: a GET on a connection of its own. It succeeds with a 2xx or 3xx whose head arrives in
 * time.
 */
class HealthCheck implements ExchangeEvents, ConnectionReceiver {
  readonly #target: Target
  readonly #options: CheckOptions
  readonly #onResult: (verdict: CheckResult) => void
  #dialing: Acquisition | undefined
  #connection: UpstreamConnection | undefined
  #timer: NodeJS.Timeout | undefined
  #hasResult = false
  #bodyBytes = 0

  /** @param onResult called once, unless it is cancelled before */
  constructor(target: Target, options: CheckOptions, onResult: (verdict: CheckResult) => void) {
    this.#target = target
    this.#options = options
    this.#onResult = onResult
  }

  start(): void {
    const { timeoutMs } = this.#options
    this.#timer = setTimeout(() => {
      this.#close()
      this.#report({ failure: `no response within ${timeoutMs} ms` })
    }, timeoutMs).unref()
    this.#dialing = this.#target.pool.open(this)
  }

  /** Ends the check without a result. */
  cancel(): void {
    this.#hasResult = true
    this.#close()
  }

  onConnection(connection: UpstreamConnection): void {
    const { path, timeoutMs, headerLines } = this.#options
    const timeouts = { responseTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs }
    const lines = `Host: ${this.#target.authority}\r\n${headerLines}`
    this.#connection = connection
    connection.start(
      `GET ${path} HTTP/1.1\r\n${lines}\r\n`,
      { method: 'GET', isUpgrade: false, body: 'none', isLast: true, ...timeouts },
      this,
      performance.now(),
    )
  }

  onHead({ status }: ResponseHead): void {
    this.#report(status < 400 ? 'healthy' : { failure: `status ${status}` })
  }

  onData({ length }: Buffer): void {
    this.#bodyBytes += length
    if (this.#bodyBytes > bodyBytesMax) this.#close()
  }

  onEnd(): void {
    clearTimeout(this.#timer)
  }

  onFailure({ reason, message }: UpstreamFailure): void {
    clearTimeout(this.#timer)
    // A lack of local resources says nothing about the target.
    this.#report(reason === 'no-resources' ? 'unknown' : { failure: `${reason}: ${message}` })
  }

  /** These never happen: nothing asks for them. */
  onUpgrade(): void {}
  onInformation(): void {}
  onDrain(): void {}

  onRead(): boolean {
    return false
  }

  #report(result: CheckResult): void {
    if (this.#hasResult) return
    this.#hasResult = true
    this.#onResult(result)
  }

  #close(): void {
    clearTimeout(this.#timer)
    this.#dialing?.cancel()
    this.#connection?.destroy()
  }
}
