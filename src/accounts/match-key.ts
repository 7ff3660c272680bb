import { timingSafeEqual } from 'node:crypto'

/** Stands in for a digest that is not there, so that its absence takes the same time. */
const noDigest = new Uint8Array(32)

interface HasSecretKey {
  readonly secretKey: { readonly digest: Uint8Array }
  readonly previousSecretKey: { readonly digest: Uint8Array; readonly validUntil: number } | undefined
}

interface HasApiKey {
  readonly apiKey: { readonly digest: Uint8Array }
}

/** Whether a digest is that of the secret key, or of the one before while its grace lasts. Constant time. */
export function isSecretKeyOf(account: HasSecretKey | undefined, digest: Uint8Array, now: number): boolean {
  // Only whoever has the right key is spared the rest.
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
