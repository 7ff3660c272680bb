/** A field block that cannot be decoded: both sides no longer have the same table (RFC 7541 2.2, 3.1). */
export class CompressionError extends Error {
  override readonly name = 'CompressionError'
}
