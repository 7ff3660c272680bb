import { framingNames, NameTable } from '#http/message/name-table.ts'
import { changedHead, HeadTooLarge, MalformedMessage, type RequestHead } from '#http/request-head.ts'
import { RequestParser } from '#http/server/request-parser.ts'

export const headBytesMax = 16_384

export const names = new NameTable(framingNames)

/** What a parser makes of bytes, however they are cut: heads, what is left, and why it gave up. */
export interface Reading {
  readonly heads: RequestHead[]
  /** What came behind the last head. */
  rest: string
  refusal: string | undefined
}

/** Feeds a parser with pieces; behind each head, which is taken to have no body, the next one is read. */
export function readHeads(pieces: readonly Buffer[], bytesMax = headBytesMax): Reading {
  const parser = new RequestParser({ headBytesMax: bytesMax, names: () => names })
  const reading: Reading = { heads: [], rest: '', refusal: undefined }
  for (const piece of pieces) {
    let rest = piece
    while (rest.length > 0 && reading.refusal === undefined) rest = feed(parser, rest, reading)
  }
  return reading
}

function feed(parser: RequestParser, bytes: Buffer, reading: Reading): Buffer {
  try {
    const head = parser.feed(bytes)
    if (head === undefined) return bytes.subarray(bytes.length)
    reading.heads.push(changedHead(head, {}))
    return bytes.subarray(parser.end)
  } catch (error) {
    if (error instanceof HeadTooLarge) reading.refusal = 'too large'
    else if (error instanceof MalformedMessage) reading.refusal = error.field
    else throw error
    return bytes.subarray(bytes.length)
  }
}

export function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
