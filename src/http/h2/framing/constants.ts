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
  /** Of SETTINGS and PING. */
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

/** Of a frame's head, in bytes. */
export const frameHeadBytes = 9
/** Of a frame's payload, until the peer allows more; what is received is never longer (RFC 9113 4.2). */
export const framePayloadMax = 16_384
/** Of both kinds, until the peer says something else (RFC 9113 6.9.2). */
export const windowDefault = 65_535
export const windowMax = 2 ** 31 - 1
