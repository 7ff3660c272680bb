/** What begins HTTP/2 (RFC 9113 3.4): a request line without fields, which no client of HTTP/1.1 sends. */
export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
/** So much of it is read as HTTP/1.1 too, so that an unfinished preface is an unfinished head: no method is refused. */
const methodBytes = 3

/** Looks for the preface where a connection begins, in whatever pieces it comes. */
export class PrefaceReader {
  /** How much of it has come. */
  #length = 0
  isFound = false
  /** Whether the connection begins with something else. */
  isAbsent = false

  /** @returns what is to be read as HTTP/1.1; once the preface is found, what is to be read as HTTP/2 */
  read(chunk: Buffer): Buffer {
    const before = this.#length
    let end = 0
    while (end < chunk.length && chunk[end] === preface.charCodeAt(this.#length)) {
      end++
      this.#length++
    }
    this.isFound = this.#length === preface.length
    if (this.isFound) return Buffer.concat([Buffer.from(preface), chunk.subarray(end)])
    this.isAbsent = end < chunk.length
    const passedOn = Math.min(before, methodBytes)
    if (!this.isAbsent) return Buffer.from(preface.slice(passedOn, Math.min(this.#length, methodBytes)))
    return passedOn === before ? chunk : Buffer.concat([Buffer.from(preface.slice(passedOn, before)), chunk])
  }
}
