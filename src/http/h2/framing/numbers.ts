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
