import type { ServerResponse } from 'node:http'

/**
 * Calls back once the whole answer has been handed to a connection that still stands: never, where it breaks before.
 * To be called before the response has given its socket back.
 */
export function onResponseSent(response: ServerResponse, onSent: () => void): void {
  const { socket } = response
  response.once('finish', () => {
    // It also comes when the last write fails, as it does on a connection whose reset has not been read yet.
    if (!response.destroyed && socket && !socket.destroyed && !socket.errored) onSent()
  })
}
