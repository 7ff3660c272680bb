import type { ServerResponse } from 'node:http'

/**
 * Calls back once the whole response has been written to an open connection; never if the connection fails first.
 * To be called before the response has detached its socket.
 */
export function onResponseSent(response: ServerResponse, onSent: () => void): void {
  const { socket } = response
  response.once('finish', () => {
    // Also emitted when the last write fails, as on a connection whose reset has not been read yet.
    if (!response.destroyed && socket && !socket.destroyed && !socket.errored) onSent()
  })
}
