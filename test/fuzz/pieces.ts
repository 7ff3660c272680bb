import fc from 'fast-check'

/** Lengths of the pieces that bytes come in; the rest comes in one piece. */
export const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 40 })

export function cut(bytes: Buffer, lengths: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = []
  let start = 0
  for (const length of lengths) {
    if (start >= bytes.length) return pieces
    pieces.push(bytes.subarray(start, start + length))
    start += length
  }
  return start < bytes.length ? [...pieces, bytes.subarray(start)] : pieces
}

/** Throws where two results are not the same. */
export function assertSame(one: unknown, other: unknown): void {
  const [a, b] = [JSON.stringify(one), JSON.stringify(other)]
  if (a !== b) throw new Error(`${a} is not ${b}`)
}
