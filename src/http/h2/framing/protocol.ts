/** RFC 9113 6. */
export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const frameFlag = {
  endStream: 0x1,
  /** For SETTINGS and PING. */
  acknowledgement: 0x1,
  endHeaders: 0x4,
  padded: 0x8,
  priority: 0x20,
} as const

/** RFC 9113 7. */
export const errorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const

/** The length of a frame's head, in bytes. */
export const frameHeadBytes = 9
/** The maximum payload of a frame, until the peer allows more; received frames are never longer (RFC 9113 4.2). */
export const framePayloadMax = 16_384
/** The window of a stream and of a connection, until the peer changes it (RFC 9113 6.9.2). */
export const windowDefault = 65_535
export const windowMax = 2 ** 31 - 1

/** An error of the peer that ends the connection (RFC 9113 5.4.1). */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  /** See errorCode. */
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export function protocolError(message: string): ConnectionError {
  return new ConnectionError(errorCode.protocolError, message)
}

export function frameSizeError(what: string): ConnectionError {
  return new ConnectionError(errorCode.frameSizeError, `${what} has a wrong length`)
}

export function tooMany(message: string): ConnectionError {
  return new ConnectionError(errorCode.enhanceYourCalm, message)
}

/** A message that is malformed in a way that only resets its stream (RFC 9113 8.1.1). */
export class MalformedStream extends Error {
  override readonly name = 'MalformedStream'
}

/** An unsigned number of 31 bits: the highest bit is reserved (RFC 9113 4.1). */
export function uint31At(bytes: Buffer, at: number): number {
  return (
    (((bytes[at] ?? 0) & 0x7f) << 24) |
    ((bytes[at + 1] ?? 0) << 16) |
    ((bytes[at + 2] ?? 0) << 8) |
    (bytes[at + 3] ?? 0)
  )
}

export function uint32At(bytes: Buffer, at: number): number {
  return uint31At(bytes, at) + ((bytes[at] ?? 0) > 0x7f ? 2 ** 31 : 0)
}

/** RFC 9113 6.5.2, RFC 8441 3. */
const identifier = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
} as const

export type Settings = { readonly [Name in keyof typeof identifier]?: number }

const names = new Map<number, keyof typeof identifier>(
  Object.entries(identifier).map(([name, number]) => [number, name as keyof typeof identifier]),
)
const entryBytes = 6

/** The payload of a SETTINGS frame. */
export function writeSettings(settings: Settings): Buffer {
  const entries = Object.entries(settings)
  const payload = Buffer.alloc(entryBytes * entries.length)
  for (const [index, [name, value]] of entries.entries()) {
    // The cast is sound: Settings has no other names.
    payload.writeUInt16BE(identifier[name as keyof typeof identifier], entryBytes * index)
    payload.writeUInt32BE(value, entryBytes * index + 2)
  }
  return payload
}

interface ReceivedSettings {
  /** The last value of each setting. */
  readonly settings: Settings
  /** The smallest table size among them, which an encoder has to announce too (RFC 7541 4.2). */
  readonly smallestTableSize: number | undefined
}

/** Unknown settings are ignored. @throws ConnectionError */
export function readSettings(payload: Buffer): ReceivedSettings {
  if (payload.length % entryBytes !== 0) throw frameSizeError('SETTINGS')
  const settings: { -readonly [Name in keyof Settings]: number } = {}
  let smallestTableSize: number | undefined
  for (let at = 0; at < payload.length; at += entryBytes) {
    const name = names.get(payload.readUInt16BE(at))
    if (name === undefined) continue
    const value = uint32At(payload, at + 2)
    check({ [name]: value })
    settings[name] = value
    if (name === 'headerTableSize') smallestTableSize = Math.min(value, smallestTableSize ?? value)
  }
  return { settings, smallestTableSize }
}

function check({
  enablePush = 0,
  enableConnectProtocol = 0,
  initialWindowSize = 0,
  maxFrameSize,
}: Settings): void {
  if (enablePush > 1) throw protocolError('SETTINGS_ENABLE_PUSH is not 0 or 1')
  if (enableConnectProtocol > 1) throw protocolError('SETTINGS_ENABLE_CONNECT_PROTOCOL is not 0 or 1')
  if (initialWindowSize > windowMax)
    throw new ConnectionError(errorCode.flowControlError, 'SETTINGS_INITIAL_WINDOW_SIZE is too large')
  if (maxFrameSize !== undefined && (maxFrameSize < framePayloadMax || maxFrameSize > 0xff_ffff))
    throw protocolError('SETTINGS_MAX_FRAME_SIZE is out of bounds')
}
