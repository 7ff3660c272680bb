import type { Account } from './store.ts'

/** The digests of all keys that an account has, base64url. */
export function keyDigestsOf({ secretKey, previousSecretKey, apiKey }: Account): readonly string[] {
  return [secretKey, previousSecretKey, apiKey].flatMap((key) => (key ? [digestText(key)] : []))
}

/** The digest of a key as its uses are kept under. */
export function digestText({ digest }: { readonly digest: Uint8Array }): string {
  return Buffer.from(digest).toString('base64url')
}
