import { subscribe } from 'node:diagnostics_channel'
import { type ClientHttp2Stream, constants } from 'node:http2'

/** Streams that were reset with NO_ERROR before their END_STREAM. */
const cutStreams = new WeakSet<object>()

/**
 * node:http2 ends a stream that its target resets with NO_ERROR as if END_STREAM had come. Only here is the difference
 * seen: whether the end was already put behind the data, which may still wait to be read.
 */
subscribe('http2.client.stream.close', (message) => {
  // The cast is sound: this is what the channel is documented to pass, and every Readable has this state.
  const { stream } = message as {
    readonly stream: ClientHttp2Stream & { readonly _readableState?: { readonly ended: boolean } }
  }
  if (stream.rstCode === constants.NGHTTP2_NO_ERROR && stream._readableState?.ended === false)
    cutStreams.add(stream)
})

/** Whether the response that has ended was not complete (RFC 9113 8.1). */
export function isCutShort(stream: ClientHttp2Stream): boolean {
  return cutStreams.has(stream)
}
