import { valuesOf } from '#http/h1/raw-headers.ts'

/**
 * Whether a response is a stream of server-sent events (https://html.spec.whatwg.org/#server-sent-events), which may go
 * on for ever.
 * @param headers name, value, name, value, as they arrived
 */
export function isEventStream(headers: readonly string[]): boolean {
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(valuesOf(headers, 'content-type')[0] ?? '')
}

/** How long a silence a route for responses that last allows. */
const lastingIdleMs = 120_000

/**
 * Whether a response of unknown length may be one that lasts, such as a stream of events: these wait for what happens rather
 * than for the backend, so they are no measure of how busy it is, and count apart from other requests.
 */
export function mayLast(isOfEvents: boolean, idleTimeoutMs: number): boolean {
  return isOfEvents || idleTimeoutMs >= lastingIdleMs
}
