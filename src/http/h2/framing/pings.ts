/** The PINGs of this side that its peer has not answered yet (RFC 9113 6.7). */
export class Pings {
  readonly #awaited = new Map<number, () => void>()
  #count = 0

  /** @param onAnswered called once the peer has read everything sent before @returns the payload of a new one */
  create(onAnswered: () => void): Buffer {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(++this.#count, 4)
    this.#awaited.set(this.#count, onAnswered)
    return payload
  }

  onAnswer(payload: Buffer): void {
    const number = payload.readUInt32BE(4)
    this.#awaited.get(number)?.()
    this.#awaited.delete(number)
  }
}
