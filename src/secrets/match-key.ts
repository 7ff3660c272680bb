import { isSameBytes } from './constant-time.ts'

interface HasSecretKey {
  readonly secretKey: { readonly digest: Uint8Array }
  readonly previousSecretKey: { readonly digest: Uint8Array; readonly validUntil: number } | undefined
}

interface HasApiKey {
  readonly apiKey: { readonly digest: Uint8Array }
}

/** Whether a digest is that of the secret key, or of the previous one within its grace period. Constant time. */
export function isSecretKeyOf(account: HasSecretKey | undefined, digest: Uint8Array, now: number): boolean {
  // Returns early only for the current key.
  if (isSameBytes(account?.secretKey.digest, digest)) return true
  const isPrevious = isSameBytes(account?.previousSecretKey?.digest, digest)
  return isPrevious && now < (account?.previousSecretKey?.validUntil ?? 0)
}

/** Whether a digest is that of the API key. Constant time. */
export function isApiKeyOf(account: HasApiKey | undefined, digest: Uint8Array): boolean {
  return isSameBytes(account?.apiKey.digest, digest)
}
