import { until } from '../../setup/net.ts'
import {
  endHeaders,
  endStream,
  fieldBlock,
  frame,
  frameTypes,
  type RawSession,
  requestBlock,
  uint32,
} from './frames.ts'

/** What flow control is told in (RFC 9113 6.9). */

export const initialWindowSize = 4
export const windowDefault = 65_535
export const windowMax = 2 ** 31 - 1

/** Waits until the gateway has read all that was sent, and what it says to it has come. */
export async function roundTrip(session: RawSession): Promise<void> {
  const acknowledgements = () =>
    session.frames.filter(({ type, flags }) => type === frameTypes.ping && flags === 1).length
  const before = acknowledgements()
  session.socket.write(frame('ping', 0, 0, Buffer.alloc(8)))
  await until('the PING is answered', () => acknowledgements() > before || session.socket.destroyed)
}

export function widen({ socket }: RawSession, streamId: number, bytes: number): void {
  socket.write(frame('windowUpdate', 0, streamId, uint32(bytes)))
}

export function get({ socket }: RawSession, streamId: number, path: string): void {
  socket.write(frame('headers', endHeaders | endStream, streamId, requestBlock(path)))
}

export function post({ socket }: RawSession, streamId: number, path: string): void {
  socket.write(frame('headers', endHeaders, streamId, postBlock(path)))
}

export function postBlock(path: string, fields: readonly (readonly [string, string])[] = []): Buffer {
  return fieldBlock([
    [':method', 'POST'],
    [':path', path],
    [':scheme', 'http'],
    [':authority', 'a'],
    ...fields,
  ])
}

/** What has come of the body on a stream. */
export function bodyOf({ frames }: RawSession, streamId: number): Buffer {
  const pieces = frames.filter((one) => one.type === frameTypes.data && one.streamId === streamId)
  return Buffer.concat(pieces.map(({ payload }) => payload))
}

/** How much more may be sent than at first: on a stream, or in all (0). */
export function updatesOf({ frames }: RawSession, streamId: number): number {
  return frames
    .filter((one) => one.type === frameTypes.windowUpdate && one.streamId === streamId)
    .reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0)
}

export function resetOf({ frames }: RawSession, streamId: number): number | undefined {
  return frames
    .find((one) => one.type === frameTypes.resetStream && one.streamId === streamId)
    ?.payload.readUInt32BE(0)
}

/** Bytes that tell their place. */
export function pattern(bytes: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: bytes }, (_, index) => index % 251))
}
