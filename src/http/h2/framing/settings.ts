import {
  ConnectionError,
  errorCode,
  framePayloadMax,
  frameSizeError,
  protocolError,
  uint32At,
  windowMax,
} from './protocol.ts'

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
  /** An encoder has to announce it, too (RFC 7541 4.2). */
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
