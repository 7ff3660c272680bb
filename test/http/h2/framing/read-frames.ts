import { FrameReader } from '#http/h2/framing/frame-reader.ts'
import { ConnectionError } from '#http/h2/framing/protocol.ts'

export interface ReadFrame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  /** Without padding where it is DATA. */
  readonly payload: string
  /** Of the payload of DATA with its padding: what counts for flow control. */
  readonly length?: number
  readonly isEmpty?: boolean
}

export interface ReadFrames {
  readonly frames: readonly ReadFrame[]
  /** A DATA frame that has not ended. */
  readonly open: { readonly streamId: number; readonly length: number; readonly payload: string } | undefined
  /** The code of the error that it ends with. */
  readonly code: number | undefined
}

const endStream = 0x1

/** What a reader makes of bytes that come in these pieces: data in one text, however they were passed on. */
export function readFrames(pieces: readonly Buffer[]): ReadFrames {
  const frames: ReadFrame[] = []
  let open: { streamId: number; length: number; payload: string } | undefined
  const reader = new FrameReader({
    onFrame: (type, flags, streamId, payload) => {
      if (open !== undefined) throw new Error('a frame within DATA')
      frames.push({ type, flags, streamId, payload: payload.toString('hex') })
    },
    onDataStart: (streamId, length) => {
      if (open !== undefined) throw new Error('DATA within DATA')
      open = { streamId, length, payload: '' }
    },
    onData: (chunk) => {
      if (open === undefined || chunk.length === 0) throw new Error('data without a frame, or none')
      open.payload += chunk.toString('hex')
    },
    onDataEnd: (isLast, isEmpty) => {
      if (open === undefined) throw new Error('the end of no frame')
      frames.push({ type: 0, flags: isLast ? endStream : 0, isEmpty, ...open })
      open = undefined
    },
  })
  let code: number | undefined
  try {
    // Copies, as what is read is valid only within the call.
    for (const piece of pieces) {
      const copy = Buffer.from(piece)
      reader.feed(copy)
      copy.fill(0xee)
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error
    code = error.code
  }
  return { frames, open, code }
}
