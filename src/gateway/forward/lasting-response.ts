import { valuesOf } from '#http/request-head.ts'

/**
 * Whether a response is a stream of server-sent events (https://html.spec.whatwg.org/#server-sent-events), which may go
 * on for ever.
 * @param headers name, value, name, value, as they arrived
 */
export function isEventStream(headers: readonly string[]): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(valuesOf(headers, 'content-type')[0] ?? '')
}

/** A route that allows an idle time at least this long is meant for long-lived responses. */
const lastingIdleMs = 120_000

/**
 * Whether a response of unknown length may be long-lived, such as a stream of events. These wait for events rather than
 * for the backend, so they do not show how busy it is and are counted separately.
 */
export function mayLast(isOfEvents: boolean, idleTimeoutMs: number): boolean {
  return isOfEvents || idleTimeoutMs >= lastingIdleMs
}
