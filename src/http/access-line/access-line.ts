import type { Arrival } from '../arrival.ts'
import { CallerMembers } from './caller-members.ts'
import { jsonMember } from './members.ts'
import { createRequestMembers } from './request-members.ts'

/**
 * The members of the line that a request has in the access log, each followed by a comma.
 * @param now when it was over, on the clock of performance.now()
 */
export type WriteAccessLine = (arrival: Arrival, now: number, isComplete: boolean) => string

/** @param listener which it is; undefined = the main one */
export function createAccessLineWriter(listener: string | undefined): WriteAccessLine {
  const listenerMember = jsonMember('listener', listener)
  const requestMembers = createRequestMembers()
  const callerMembers = new CallerMembers()
  return (arrival, now, isComplete) =>
    listenerMember +
    requestIdMember(arrival) +
    requestMembers(arrival) +
    `"durationMs":${millisecondsText(now - arrival.arrivedAt)},` +
    callerMembers.of(arrival.outcome, isComplete)
}

/** Made here it needs no look: only trusted clients send one (http/arrival.ts). */
function requestIdMember({ requestId, client }: Arrival): string {
  return client.isTrusted ? jsonMember('requestId', requestId) : `"requestId":"${requestId}",`
}

/** With three decimals: to write a fraction takes five times as long as two integers. */
function millisecondsText(duration: number): string {
  const microseconds = Math.round(duration * 1_000)
  const whole = Math.trunc(microseconds / 1_000)
  const rest = microseconds - whole * 1_000
  return `${whole}.${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}`
}
