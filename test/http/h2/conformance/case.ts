import { endHeaders, endStream, fieldBlock, frame, requestBlock } from '../frames.ts'

/** Error codes (RFC 9113 7). */
export const code = {
  noError: 0,
  protocol: 1,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
} as const

/** What a client does, and what the gateway is to do about it. */
export interface Case {
  readonly name: string
  /** Of RFC 9113, if nothing else is said. */
  readonly section: string
  /** Sent after the preface and SETTINGS; `answer` waits for the end of the answer on stream 1. */
  readonly send: readonly (Buffer | 'answer')[]
  /** Whether nothing is sent before it. */
  readonly isBare?: boolean
  readonly expected: Expected
}

export type Expected =
  /** The connection ends with this code. */
  | { readonly goaway: number }
  /** The stream is reset, and the connection remains usable. */
  | { readonly reset: number; readonly streamId?: number }
  /** The stream is answered, and the connection remains usable. */
  | { readonly status: string }
  /** Nothing happens, and the connection remains usable. */
  | 'ignored'

export const padded = 0x8
export const priority = 0x20

/** A frame of any type and length. @param length undefined = that of the payload */
export function anyFrame(
  type: number,
  flags: number,
  streamId: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const bytes = frame('data', flags, streamId, payload)
  bytes[3] = type
  return bytes
}

/** Whether the backend answers at once, or only after the end of the request. */
const path = '/public/x'
/** Where the backend never answers. */
const silentPath = '/public/silent'

/** A request without a body. */
export function get(streamId: number, block = requestBlock(path)): Buffer {
  return frame('headers', endHeaders | endStream, streamId, block)
}

/** The head of a request whose body follows. */
export function post(streamId: number, fields: readonly (readonly [string, string])[] = []): Buffer {
  return frame('headers', endHeaders, streamId, postBlock(fields))
}

/** A request without a body that stays open. */
export function open(streamId: number): Buffer {
  return get(streamId, requestBlock(silentPath))
}

export function postBlock(fields: readonly (readonly [string, string])[] = []): Buffer {
  return fieldBlock([
    [':method', 'POST'],
    [':path', path],
    [':scheme', 'http'],
    [':authority', 'a'],
    ...fields,
  ])
}

export function data(streamId: number, bytes: number, flags = 0): Buffer {
  return frame('data', flags, streamId, Buffer.alloc(bytes, 'd'))
}

export function bytes(...numbers: readonly number[]): Buffer {
  return Buffer.from(numbers)
}
