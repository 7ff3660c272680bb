import { looksLikeKey } from '../secrets/secret-form.ts'

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

/** How many characters an imported key has: others are not looked up. */
export const foreignKeyLength = { min: 8, max: 512 } as const

/** Whether a text can be a key that was made elsewhere: one of our form is only ever ours. */
export function isForeignKey(text: string): boolean {
  const { length } = text
  return length >= foreignKeyLength.min && length <= foreignKeyLength.max && !looksLikeKey(text)
}
