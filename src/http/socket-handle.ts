import { type BoundSocket, type Server, Socket } from 'node:net'
import { sharedBuffer } from './read-memory.ts'

// The only file that uses what a socket of Node is made of. Each part is checked before it is used; where one is
// missing, as with `node --permission`, the stream is used (docs/decisions/0015-own-http.md).

/** What belongs to a connection in the system, below its stream. Methods return 0, or the number of a system error. */
export interface SocketHandle extends SocketSettings {
  /** Whether it reads. A stream sets it too. */
  reading: boolean
  /** Called after each read, and at the end of the input (see `readResult`). */
  onread: () => void
  /** The bytes that the system has yet to accept. */
  readonly writeQueueSize: number
  readStart(): number
  readStop(): number
  useUserBuffer(memory: Buffer): void
  writeLatin1String(call: PendingCall, text: string): number
  shutdown(call: PendingCall): number
  close(onClosed?: () => void): void
  getpeername(out: { address?: string }): number
}

/** On Linux a connection inherits them from the socket that has accepted it. */
interface SocketSettings {
  setNoDelay(isEnabled: boolean): number
  setKeepAlive(isEnabled: boolean, delaySeconds: number): number
}

/** The handle of a server. */
interface ListeningHandle extends SocketSettings {
  onconnection: unknown
}

const methods = [
  'readStart',
  'readStop',
  'useUserBuffer',
  'writeLatin1String',
  'shutdown',
  'close',
  'getpeername',
  'setNoDelay',
  'setKeepAlive',
] as const satisfies readonly (keyof SocketHandle)[]

/** A call that may end later. */
export interface PendingCall {
  /** @param status 0, or the number of a system error */
  oncomplete?: (status: number) => void
}

interface StreamBinding {
  readonly WriteWrap: new () => PendingCall
  readonly ShutdownWrap: new () => PendingCall
  readonly streamBaseState: Int32Array
  readonly kLastWriteWasAsync: number
  readonly kReadBytesOrError: number
}

/** UV_EOF of libuv: the same on every system. */
export const endOfInput = -4_095

/** undefined = this process has no access to it. */
export const streamBinding = findBinding()

function findBinding(): StreamBinding | undefined {
  try {
    // The cast is sound: each part is checked.
    const { binding: find } = process as { readonly binding?: (name: string) => Partial<StreamBinding> }
    const found = find?.('stream_wrap') ?? {}
    const { WriteWrap, ShutdownWrap, streamBaseState, kLastWriteWasAsync, kReadBytesOrError } = found
    if (typeof WriteWrap !== 'function' || typeof ShutdownWrap !== 'function') return undefined
    if (typeof kLastWriteWasAsync !== 'number' || typeof kReadBytesOrError !== 'number') return undefined
    if (!(streamBaseState instanceof Int32Array)) return undefined
    return { WriteWrap, ShutdownWrap, streamBaseState, kLastWriteWasAsync, kReadBytesOrError }
  } catch {
    // With --permission it is refused.
    return undefined
  }
}

/** The handle of a stream; undefined = there is none that may be used, as with TLS. */
export function handleOf(socket: object): Partial<SocketHandle> | undefined {
  // The cast is sound: each part of a handle is checked before it is used.
  const { _handle: handle } = socket as { readonly _handle?: Partial<SocketHandle> | null }
  return handle && !('encrypted' in socket) ? handle : undefined
}

/**
 * Makes a server pass on handles, without making streams. It does not count these connections: its `maxConnections`
 * does not apply to them, and it does not wait for them when it closes. Small data is sent at once.
 * @param probeDelayMs how long a client is silent before the system probes whether it is still there
 * @param accept gets each one; nothing has been read from it
 * @returns whether that is possible; if not, there is a stream for each connection
 */
export function acceptHandles(
  server: Server,
  probeDelayMs: number,
  accept: (handle: SocketHandle) => void,
): boolean {
  // The cast is sound: each part is checked before it is used.
  const { _handle: listening } = server as object as { readonly _handle?: Partial<ListeningHandle> | null }
  if (typeof listening?.onconnection !== 'function') return false
  if (streamBinding === undefined || readFields === undefined) return false
  const { onconnection } = listening
  const set = (handle: Partial<SocketSettings>) =>
    handle.setNoDelay?.(true) === 0 && handle.setKeepAlive?.(true, probeDelayMs / 1_000) === 0
  // Five system calls fewer for each connection.
  const areInherited = process.platform === 'linux' && set(listening)
  // All handles of a server have the same methods.
  let isUsable: boolean | undefined
  listening.onconnection = (error: number, handle?: SocketHandle) => {
    if (handle !== undefined) isUsable ??= methods.every((name) => typeof handle[name] === 'function')
    if (handle !== undefined && isUsable === true) {
      if (!areInherited) set(handle)
      accept(handle)
    } else onconnection.call(listening, error, handle)
  }
  return true
}

/** Within `onread`: the number of bytes that were read, `endOfInput`, or the negative number of a system error. */
export function readResult(): number {
  return streamBinding?.streamBaseState[streamBinding.kReadBytesOrError] ?? 0
}

/**
 * Closes the own side, after all that was written.
 * @param onDone called once it is closed, also if the client has reset the connection meanwhile
 * @returns whether it could begin
 */
export function shutDown(handle: SocketHandle, onDone: () => void): boolean {
  if (streamBinding === undefined) return false
  const call = new streamBinding.ShutdownWrap()
  call.oncomplete = onDone
  return handle.shutdown(call) === 0
}

/** The fields of a socket in which Node stores the option `onread`: it has none for sockets that were accepted. */
interface ReadFields {
  readonly buffer: symbol
  readonly callback: symbol
}

const readFields = findReadFields()

function findReadFields(): ReadFields | undefined {
  const symbols = Object.getOwnPropertySymbols(new Socket())
  const buffer = symbols.find(({ description }) => description === 'kBuffer')
  const callback = symbols.find(({ description }) => description === 'kBufferCb')
  return buffer && callback && { buffer, callback }
}

/**
 * Makes a socket read into the shared memory, as the option `onread` of net.connect does.
 * @param onRead gets the number of bytes read; returns whether the socket continues reading
 * @returns whether that is possible
 */
export function readIntoSharedBuffer(socket: Socket, onRead: (length: number) => boolean): boolean {
  const handle = handleOf(socket)
  if (!handle?.useUserBuffer || !readFields) return false
  setOnRead(socket, onRead)
  handle.useUserBuffer(sharedBuffer)
  return true
}

/** A stream for a connection whose handle already reads into the shared memory (see `readIntoSharedBuffer`). */
export function streamOf(handle: SocketHandle, onRead: (length: number) => boolean): Socket {
  // The cast is sound: this is what Node itself passes; the type only knows another kind.
  const socket = new Socket({ handle: handle as object as BoundSocket, allowHalfOpen: true })
  setOnRead(socket, onRead)
  return socket
}

function setOnRead(socket: Socket, onRead: (length: number) => boolean): void {
  if (readFields) Object.assign(socket, { [readFields.buffer]: sharedBuffer, [readFields.callback]: onRead })
}
