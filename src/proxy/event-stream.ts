/**
 * Whether a response is a stream of server-sent events (https://html.spec.whatwg.org/#server-sent-events), which may go
 * on for ever.
 * @param headers name, value, name, value, as they arrived
 */
export function isEventStream(headers: readonly string[]): boolean {
  for (let index = 0; index + 1 < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === 'content-type')
      return /^\s*text\/event-stream\s*(?:;|$)/i.test(headers[index + 1] ?? '')
  }
  return false
}
