/** The accounts of keys that were made elsewhere, by the digest of the key. */
export interface ImportedKeys {
  /** Whether it is known that there is no imported key at all. */
  hasNone(): boolean
  /** Whether there is any. */
  hasAny(): Promise<boolean>
  /** The cached account ID; `absent` = there is no such key; undefined = it has to be looked up. */
  find(digest: Uint8Array): string | 'absent' | undefined
  /** @throws GatehouseError `store-unavailable` */
  lookUp(digest: Uint8Array): Promise<string | undefined>
  /** Drops the account of a key that it does not have any more. */
  forget(digest: Uint8Array): void
}
