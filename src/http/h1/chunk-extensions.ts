import { MalformedMessage } from '../exchange/malformed-message.ts'

/** Limit for the extensions of one chunk. */
const lineBytesMax = 256
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = '"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"'
const wellFormed = new RegExp(`^(?:[ \\t]*;[ \\t]*${token}(?:[ \\t]*=[ \\t]*(?:${token}|${quoted}))?)+$`)
const beginning = /^[\t -~\x80-\xff]*$/
const cr = 0x0d

/**
 * Skips chunk extensions, which no part of the gateway uses (RFC 9112 7.1.1). They are parsed strictly, so that no two
 * parsers can disagree about where they end, and are never forwarded: chunks are encoded again.
 */
export class ChunkExtensions {
  #bytesLeft: number

  /** @param bytesMax how many bytes of extensions there may be beyond those of data */
  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax
  }

  countData(bytes: number): void {
    this.#bytesLeft += bytes
  }

  /**
   * @param at where they begin, right after the size
   * @returns the index after the CR that ends them; the number of bytes where more must arrive
   * @throws MalformedMessage
   */
  skip(bytes: Buffer, at: number): number {
    if (at >= bytes.length) return bytes.length
    const end = bytes.indexOf(cr, at)
    const length = (end === -1 ? bytes.length : end) - at
    if (length > lineBytesMax) throw malformed()
    const text = bytes.toString('latin1', at, at + length)
    if (end === -1) {
      if (!beginning.test(text)) throw malformed()
      return bytes.length
    }
    if (!wellFormed.test(text)) throw malformed()
    // Counted once the line is complete: then it is not read again.
    if (end + 1 < bytes.length) this.#bytesLeft -= length
    if (this.#bytesLeft < 0) throw malformed()
    return end + 1
  }
}

function malformed(): MalformedMessage {
  return new MalformedMessage('chunk', 'has a malformed or too long chunk extension')
}
