/** A sealed secret, and the same secret sealed again. */
export interface Reseal {
  readonly before: Uint8Array
  readonly after: Uint8Array
}

/** What is stored of a key. */
export interface StoredKey {
  /** SHA-256 of the key. */
  readonly digest: Uint8Array
  /** The sealed key, to be shown again; undefined where none is kept. */
  readonly sealed: Uint8Array | undefined
  readonly createdAt: number
  /** The end of the key, to tell it from others; absent = it was made before this was kept, or elsewhere. */
  readonly lastFour?: string | undefined
}
