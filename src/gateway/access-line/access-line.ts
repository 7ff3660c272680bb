import { memoize } from '#platform/memoize.ts'
import { clientClosedRequest } from '../gate/outcome.ts'
import type { Arrival } from '../server/arrival.ts'
import { CallerMembers } from './caller-members.ts'
import { frequentMember, jsonMember } from './members.ts'
import { pathForLog } from './path-for-log.ts'
import { RouteMembers } from './route-members.ts'

/**
 * The members of the line that a request has in the access log, each followed by a comma.
 * @param now when it was over, on the clock of performance.now()
 */
export type WriteAccessLine = (arrival: Arrival, now: number, isComplete: boolean) => string

/** @param listener which it is; undefined = the main one */
export function createAccessLineWriter(listener: string | undefined): WriteAccessLine {
  const listenerMember = jsonMember('listener', listener)
  const clientMember = frequentMember('client')
  const routeMembers = memoize((route: string) => new RouteMembers(route))
  const callerMembers = new CallerMembers()
  return (arrival, now, isComplete) => {
    const { head, client, outcome, connection } = arrival
    const { destination, route, status = clientClosedRequest } = outcome
    return (
      listenerMember +
      requestIdMember(arrival) +
      clientMember(client.address) +
      jsonMember('path', pathForLog(destination?.target.sentPath ?? head.target)) +
      routeMembers(route).of(head.method, connection.httpVersion, status) +
      millisecondsMember(now - arrival.arrivedAt) +
      callerMembers.of(outcome, isComplete)
    )
  }
}

/** Made here it needs no look: only trusted clients send one (gateway/server/arrival.ts). */
function requestIdMember({ requestId, client }: Arrival): string {
  return client.isTrusted ? jsonMember('requestId', requestId) : `"requestId":"${requestId}",`
}

const thousandths = Array.from({ length: 1_000 }, (_, index) => `.${String(index).padStart(3, '0')},`)

/** The value of the member whose name comes last in RouteMembers: to write a fraction takes five times as long. */
function millisecondsMember(duration: number): string {
  const microseconds = Math.round(duration * 1_000)
  const whole = Math.trunc(microseconds / 1_000)
  return `${whole}${thousandths[microseconds - whole * 1_000]}`
}
