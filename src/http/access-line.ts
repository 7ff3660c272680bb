import { copyString } from '../platform/copy-string.ts'
import { memoizeBounded } from '../platform/memoize.ts'
import { hideSecrets, secretStartPattern } from '../secrets/hide-secrets.ts'
import type { Arrival } from './arrival.ts'
import { clientClosedRequest, principalOf } from './outcome.ts'

/** Matches what JSON writes as it is, as nearly all is: asking takes less time than writing by JSON. */
const plainText = /^[ !#-[\]-~]*$/
/** Matches paths that may need redaction for the log: most do not. */
const mayNeedRedaction = new RegExp(`[?#%]|${secretStartPattern.source}`)
/** The values that are seen again and again: those of a config with thousands of routes. */
const memberBounds = { entriesMax: 10_000, keyLengthMax: 128 }

/**
 * The members of the line that a request has in the access log, each followed by a comma.
 * @param now when it was over, on the clock of performance.now()
 */
export type WriteAccessLine = (arrival: Arrival, now: number, isComplete: boolean) => string

/** @param listener which it is; undefined = the main one */
export function createAccessLineWriter(listener: string | undefined): WriteAccessLine {
  const listenerMember = jsonMember('listener', listener)
  const clientMember = frequentMember('client')
  const methodMember = frequentMember('method')
  const versionMember = frequentMember('httpVersion')
  const routeMember = frequentMember('route')
  const schemeMember = frequentMember('scheme')
  const upstreamMember = frequentMember('upstream')

  return (arrival, now, isComplete) => {
    const { requestId, head, client, outcome, arrivedAt, connection } = arrival
    const { route, status = clientClosedRequest, upstream, code, reason, decision, destination } = outcome
    const path = pathForLog(destination?.target.sentPath ?? head.target)
    return (
      listenerMember +
      jsonMember('requestId', requestId) +
      clientMember(client.address) +
      methodMember(head.method) +
      jsonMember('path', path) +
      versionMember(connection.httpVersion) +
      routeMember(route) +
      `"status":${status},"durationMs":${millisecondsText(now - arrivedAt)},` +
      (decision?.scheme === undefined ? '' : schemeMember(decision.scheme)) +
      jsonMember('accountId', principalOf(outcome)?.accountId ?? outcome.accountId) +
      (upstream === undefined ? '' : upstreamMember(upstream)) +
      jsonMember('code', code) +
      jsonMember('reason', reason) +
      `"isComplete":${isComplete},`
    )
  }
}

/** A member of a JSON object, followed by a comma; empty where there is no value. */
function jsonMember(name: string, value: string | undefined): string {
  if (value === undefined) return ''
  return plainText.test(value) ? `"${name}":"${value}",` : `"${name}":${JSON.stringify(value)},`
}

/** The same for values that repeat. They are Latin-1, as all of a request and a config's names are. */
function frequentMember(name: string): (value: string) => string {
  return memoizeBounded(memberBounds, (value) => copyString(jsonMember(name, value)))
}

/** With three decimals: to write a fraction takes five times as long as two integers. */
function millisecondsText(duration: number): string {
  const microseconds = Math.round(duration * 1_000)
  const whole = Math.trunc(microseconds / 1_000)
  const rest = microseconds - whole * 1_000
  return `${whole}.${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`
}

/**
 * The path without query, fragment and userinfo, which may contain anything. A key or token that is in the path by
 * mistake is redacted.
 */
function pathForLog(target: string): string {
  if (target.startsWith('/') && !mayNeedRedaction.test(target)) return target
  const path = target.split(/[?#]/, 1)[0]?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1') ?? ''
  return hideSecrets(path)
}
