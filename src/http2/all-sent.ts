import { subscribe } from 'node:diagnostics_channel'
import { constants, type ServerHttp2Stream } from 'node:http2'

/** Streams that have closed before node:http2 took note of their last write, though all was sent. */
const sentStreams = new WeakSet<object>()

/**
 * A stream whose request was read to its end is destroyed as it closes. Only here, and only before that, does it say
 * whether its last frame was sent, or the client has reset it with NO_ERROR before.
 */
subscribe('http2.server.stream.close', (message) => {
  // The cast is sound: this is what the channel is documented to pass.
  const { stream } = message as { readonly stream: ServerHttp2Stream }
  if (!stream.readable && !stream.writableFinished && stream.state.localClose === 1) sentStreams.add(stream)
})

/** Whether all of a response was sent. To be asked of a stream that has closed. */
export function isAllSent(stream: ServerHttp2Stream): boolean {
  return stream.rstCode === constants.NGHTTP2_NO_ERROR && (stream.writableFinished || sentStreams.has(stream))
}
