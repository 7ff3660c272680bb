import type { Trace } from '#ops/tracing/tracer.ts'
import { registeredMethods } from '#platform/http.ts'
import { memoize, memoizeBounded } from '#platform/memoize.ts'
import { hideSecrets, secretStartPattern } from '#platform/secrets/hide-secrets.ts'
import { copyString, inOnePiece } from '#platform/text.ts'
import type { MonotonicMs } from '#platform/time.ts'
import { type Arrival, type HttpVersion, httpVersionOf } from '../arrival/arrival.ts'
import { callerTextsOf } from '../arrival/caller-texts.ts'
import { clientClosedRequest, type Outcome, principalOf } from '../arrival/outcome.ts'

/**
 * The members of a request's line in the access log, each followed by a comma.
 * @param now when the request ended
 */
type WriteAccessLine = (arrival: Arrival, now: MonotonicMs, isComplete: boolean) => string

/** @param listener its name; undefined = the main listener */
export function createAccessLineWriter(listener: string | undefined): WriteAccessLine {
  const listenerMember = jsonMember('listener', listener)
  const clientMember = frequentMember('client')
  const routeMembers = memoize((route: string) => new RouteMembers(route))
  const callerMembers = new CallerMembers()
  return (arrival, now, isComplete) => {
    const { head, client, outcome } = arrival
    const { route, status = clientClosedRequest } = outcome
    return (
      listenerMember +
      requestIdMember(arrival) +
      traceMember(outcome.trace) +
      clientMember(client.address) +
      jsonMember('path', loggedPath(arrival)) +
      routeMembers(route).of(head.method, httpVersionOf(arrival), status) +
      millisecondsMember(now - arrival.arrivedAt) +
      callerMembers.of(outcome, isComplete)
    )
  }
}

/** Only trusted clients may send a request ID of their own, which may need escapes. */
function requestIdMember({ requestId, client }: Arrival): string {
  return client.isTrusted ? jsonMember('requestId', requestId) : `"requestId":"${requestId}",`
}

/** Names of OpenTelemetry for log records in JSON. */
function traceMember(trace: Trace | undefined): string {
  return trace === undefined ? '' : `"trace_id":"${trace.traceId}","span_id":"${trace.spanId}",`
}

const thousandths = Array.from({ length: 1_000 }, (_, index) => `.${String(index).padStart(3, '0')},`)

/** The value of the member whose name comes last in RouteMembers. Hot: written from a table. */
function millisecondsMember(duration: number): string {
  const microseconds = Math.round(duration * 1_000)
  const whole = Math.trunc(microseconds / 1_000)
  return `${whole}${thousandths[microseconds - whole * 1_000]}`
}

/** Longer methods are not cached: a client may invent one as long as a head. */
const methodLengthMax = 32

/** What the lines of a route have in common, up to the name of the duration. The last text is cached. */
class RouteMembers {
  readonly #route: string
  #method = ''
  #httpVersion: HttpVersion = '1.1'
  #status = 0
  #text = ''

  constructor(route: string) {
    this.#route = route
  }

  of(method: string, httpVersion: HttpVersion, status: number): string {
    if (method === this.#method && httpVersion === this.#httpVersion && status === this.#status)
      return this.#text
    if (method.length > methodLengthMax) return this.#join(method, httpVersion, status)
    this.#method = copyString(method)
    this.#httpVersion = httpVersion
    this.#status = status
    this.#text = inOnePiece(this.#join(this.#method, httpVersion, status))
    return this.#text
  }

  #join(method: string, httpVersion: HttpVersion, status: number): string {
    return (
      jsonMember('method', methodForLog(method)) +
      jsonMember('httpVersion', httpVersion) +
      jsonMember('route', this.#route) +
      `"status":${status},"durationMs":`
    )
  }
}

/** Anybody may invent a method; a key or token in it is redacted. */
export function methodForLog(method: string): string {
  return registeredMethods.has(method) ? method : hideSecrets(method)
}

/** The members that say who called, which upstream responded, and how it ended. */
class CallerMembers {
  readonly #scheme = frequentMember('scheme')
  readonly #upstream = frequentMember('upstream')

  /** Hot: the text of successful requests is cached with their decision, from the second request on. */
  of(outcome: Outcome, isComplete: boolean): string {
    const { upstream, code, reason, decision } = outcome
    const isUsual = isComplete && code === undefined && reason === undefined
    if (!isUsual || decision?.kind !== 'allowed' || decision.principal === undefined)
      return this.#join(outcome, isComplete)
    // A decision that needs a proof holds for one request only.
    if (decision.confirmation !== undefined) return this.#join(outcome, isComplete)
    const texts = callerTextsOf(decision)
    if (texts.logMembers === undefined || texts.logUpstream !== upstream) {
      texts.logMembers = ''
      texts.logUpstream = upstream
      return this.#join(outcome, isComplete)
    }
    if (texts.logMembers === '') texts.logMembers = inOnePiece(this.#join(outcome, isComplete))
    return texts.logMembers
  }

  #join(outcome: Outcome, isComplete: boolean): string {
    const { upstream, code, reason, decision } = outcome
    const scheme = decision?.scheme
    const accountId = principalOf(outcome)?.accountId ?? outcome.accountId
    return (
      (scheme === undefined ? '' : this.#scheme(scheme)) +
      jsonMember('accountId', accountId) +
      (upstream === undefined ? '' : this.#upstream(upstream)) +
      jsonMember('code', code) +
      jsonMember('reason', reason) +
      `"isComplete":${isComplete},`
    )
  }
}

/** Matches text that JSON does not escape. */
const plainText = /^[ !#-[\]-~]*$/

/** Enough for a config with thousands of routes. */
const frequentBounds = { entriesMax: 10_000, keyLengthMax: 128 }

/** A member of a JSON object, followed by a comma; empty where there is no value. */
function jsonMember(name: string, value: string | undefined): string {
  if (value === undefined) return ''
  return plainText.test(value) ? `"${name}":"${value}",` : `"${name}":${JSON.stringify(value)},`
}

/** Writes members with recurring Latin-1 values, such as those of requests and the names in a config. */
function frequentMember(name: string): (value: string) => string {
  return memoizeBounded(frequentBounds, (value) => copyString(jsonMember(name, value)))
}

/** The path of a request as it was sent, as far as it may be logged. */
export function loggedPath({ head, outcome: { destination } }: Arrival): string {
  return pathForLog(destination?.target.sentPath ?? head.target)
}

/** Matches paths that may need redaction for the log. */
const mayNeedRedaction = new RegExp(`[?#%]|${secretStartPattern.source}`)

/**
 * The path without query, fragment and userinfo, which may contain anything. A key or token in the path is redacted.
 */
export function pathForLog(target: string): string {
  if (target.startsWith('/') && !mayNeedRedaction.test(target)) return target
  const path = target.split(/[?#]/, 1)[0]?.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/]*@/i, '$1') ?? ''
  return hideSecrets(path)
}
