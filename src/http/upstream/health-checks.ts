import { type Deadline, startDeadline } from '#platform/deadline.ts'
import { monotonicClock } from '#platform/time.ts'
import type { UpstreamFailure } from '../outgoing/failure.ts'
import type { ResponseHead } from '../outgoing/response-head.ts'
import type { UpstreamConnection, UpstreamResponseEvents } from '../outgoing/upstream-connection.ts'
import { ownedCopy } from '../read-memory.ts'
import type { ActiveCheckOptions } from './health.ts'
import { type CheckResult, createHealthProbe, type HealthProbe } from './health-probe.ts'
import type { Acquisition, ConnectionReceiver } from './pool/parties.ts'
import type { Target } from './target.ts'
import type { UpstreamHeaders } from './upstream-config.ts'

interface HealthChecks {
  /** From now on these are checked, and no others. */
  follow(targets: readonly Target[]): void
  close(): void
}

/**
 * Checks targets periodically: each once per interval, spread over the interval, never with two checks at a time.
 * @param headers the upstream's configured headers, which checks have too
 */
export function openHealthChecks(
  options: ActiveCheckOptions,
  headers: UpstreamHeaders | undefined,
): HealthChecks {
  const probe = createHealthProbe(options, headers)
  /** By name: a target that is listed twice is still one server. */
  const checked = new Map<string, { readonly target: Target; stop(): void }>()

  function follow(targets: readonly Target[]): void {
    const byName = new Map(targets.map((target) => [target.name, target]))
    for (const [name, { target, stop }] of checked) {
      if (targets.includes(target)) continue
      stop()
      checked.delete(name)
    }
    const added = [...byName].filter(([name]) => !checked.has(name))
    for (const [index, [name, target]] of added.entries()) {
      // Processes that start together must not all check at the same moment.
      const share = (index + Math.random()) / added.length
      const stop = checkRepeatedly(target, { ...options, probe }, share * options.intervalMs)
      checked.set(name, { target, stop })
    }
  }

  return {
    follow,
    close: () => {
      for (const { stop } of checked.values()) stop()
    },
  }
}

function checkRepeatedly(
  target: Target,
  options: CheckOptions & Pick<ActiveCheckOptions, 'intervalMs'>,
  firstAfterMs: number,
): () => void {
  let check: HealthCheck | undefined
  let timer = setTimeout(begin, firstAfterMs).unref()

  function begin(): void {
    const begunAt = monotonicClock()
    // The previous check may have got its result from the head, while its slow body is still arriving.
    check?.cancel()
    check = new HealthCheck(target, options, (result) => {
      if (result !== 'unknown') target.health?.recordCheck(result === 'healthy' ? undefined : result.failure)
      const waitMs = Math.max(0, options.intervalMs - (monotonicClock() - begunAt))
      timer = setTimeout(begin, waitMs).unref()
    })
    check.start()
  }

  return function stop() {
    clearTimeout(timer)
    check?.cancel()
  }
}

/** How much of a body is read; the bodies that decide about a check are far shorter. */
const bodyBytesMax = 65_536

interface CheckOptions extends Pick<ActiveCheckOptions, 'timeoutMs'> {
  readonly probe: HealthProbe
}

/** One health check of a target, which must be answered in time; in HTTP/1.1 on a connection of its own. */
class HealthCheck implements UpstreamResponseEvents, ConnectionReceiver {
  readonly #target: Target
  readonly #options: CheckOptions
  readonly #onResult: (result: CheckResult) => void
  #dialing: Acquisition | undefined
  #connection: UpstreamConnection | undefined
  #deadline: Deadline | undefined
  #hasResult = false
  #head: ResponseHead | undefined
  /** The body, as long as it may still decide the result. */
  readonly #body: Buffer[] = []
  #bodyBytes = 0

  /** @param onResult called once, unless the check is cancelled before */
  constructor(target: Target, options: CheckOptions, onResult: (result: CheckResult) => void) {
    this.#target = target
    this.#options = options
    this.#onResult = onResult
  }

  start(): void {
    const { timeoutMs } = this.#options
    this.#deadline = startDeadline(timeoutMs, () => {
      this.#close()
      this.#report({ failure: `no response within ${timeoutMs} ms` })
    })
    this.#dialing = this.#target.pool.open(this)
  }

  /** Ends the check without a result. */
  cancel(): void {
    this.#hasResult = true
    this.#close()
  }

  onConnection(connection: UpstreamConnection): void {
    const { probe, timeoutMs } = this.#options
    const { method, path, headerLines, body } = probe
    const { authority, basePath } = this.#target
    // Longer than the check may take: if both timeouts expired together, either could determine the reason.
    const timeouts = { responseTimeoutMs: 2 * timeoutMs, idleTimeoutMs: 2 * timeoutMs }
    const framing = body === undefined ? 'none' : 'chunked'
    this.#connection = connection
    connection.start(
      `${method} ${basePath}${path} HTTP/1.1\r\nHost: ${authority}\r\n${headerLines}\r\n`,
      {
        method,
        isUpgrade: false,
        body: framing,
        isLast: true,
        bindsConnection: false,
        expectsContinue: false,
        ...timeouts,
      },
      this,
      monotonicClock(),
    )
    if (body === undefined) return
    connection.write(body)
    connection.finish('')
  }

  onHead(head: ResponseHead): void {
    this.#head = head
    const result = this.#options.probe.readHead(head)
    if (result) this.#report(result)
  }

  onData(chunk: Buffer): void {
    this.#bodyBytes += chunk.length
    if (this.#bodyBytes <= bodyBytesMax) {
      if (!this.#hasResult) this.#body.push(ownedCopy(chunk))
      return
    }
    this.#close()
    this.#report({ failure: 'the response is too long' })
  }

  onEnd(trailers: readonly string[], last = ''): void {
    if (last !== '') this.onData(Buffer.from(last, 'latin1'))
    this.#deadline?.clear()
    if (this.#hasResult || !this.#head) return
    this.#report(this.#options.probe.readAnswer(this.#head, Buffer.concat(this.#body), trailers))
  }

  onFailure({ reason, message }: UpstreamFailure): void {
    this.#deadline?.clear()
    // A lack of local resources says nothing about the target.
    this.#report(reason === 'no-resources' ? 'unknown' : { failure: `${reason}: ${message}` })
  }

  /** Nothing to do: a check asks for no upgrade, and its body is one small piece. */
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
    this.#deadline?.clear()
    this.#dialing?.cancel()
    this.#connection?.destroy()
  }
}
