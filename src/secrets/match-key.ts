import { timingSafeEqual } from 'node:crypto'

/** Stands in for a missing digest, so that its comparison takes the same time. */
const noDigest = new Uint8Array(32)

interface HasSecretKey {
  readonly secretKey: { readonly digest: Uint8Array }
  readonly previousSecretKey: { readonly digest: Uint8Array; readonly validUntil: number } | undefined
}

interface HasApiKey {
  readonly apiKey: { readonly digest: Uint8Array }
}

/** Whether a digest is that of the secret key, or of the previous one while its grace lasts. Constant time. */
export function isSecretKeyOf(account: HasSecretKey | undefined, digest: Uint8Array, now: number): boolean {
  // Returns early only for the right key.
  if (isEqual(account?.secretKey.digest, digest)) return true
  const isPrevious = isEqual(account?.previousSecretKey?.digest, digest)
  return isPrevious && now < (account?.previousSecretKey?.validUntil ?? 0)
}

/** Whether a digest is that of the API key. Constant time. */
export function isApiKeyOf(account: HasApiKey | undefined, digest: Uint8Array): boolean {
  return isEqual(account?.apiKey.digest, digest)
}

function isEqual(stored: Uint8Array | undefined, digest: Uint8Array): boolean {
  const isComparable = stored?.length === digest.length
  const isSame = timingSafeEqual(isComparable ? stored : noDigest, digest)
  return isSame && isComparable
}
