import { type KeyMaterial, parseKeyMaterial } from '#identity/tokens/key-material.ts'
import { parseSealingKeys } from '#platform/secrets/sealing-key.ts'
import type { Path } from '../problem.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'

type KeyTree = ConfigTree['tokens']['keys'][number]

/** Checks keys from files: exactly one signs, each is valid, and none is too weak. */
export function reviewTokens(review: ConfigReview): void {
  reviewFeed(review)
  const path = ['tokens', 'keys']
  if (!review.hasValidShape(path)) return
  const { keys } = review.tree.tokens
  review.checkUnique(
    keys.map((_, index) => [...path, index, 'kid']),
    (kid) => `duplicate kid "${kid}"`,
  )
  for (const [index, key] of keys.entries()) {
    const at = [...path, index]
    if (review.isValid(at)) reviewMaterial(review, at, key)
  }
  if (keys.length === 0 || !keys.every((_, index) => review.isValid([...path, index, 'use']))) return
  const signers = keys.filter((key) => key.use === 'sign').length
  if (signers !== 1) review.report(path, `exactly one key must have use: sign, not ${signers}`)
}

/** With HS256 there is no public key by which a reader could tell its events from forged ones. */
function reviewFeed({ tree, isValid, report }: ConfigReview): void {
  const path = ['tokens', 'revocationFeed', 'enabled']
  if (!isValid(['tokens', 'algorithm']) || !isValid(path)) return
  if (tree.tokens.revocationFeed.enabled && tree.tokens.algorithm === 'HS256')
    report(path, 'needs ES256, RS256 or EdDSA as tokens.algorithm: nobody could verify what HS256 signs')
}

/** Checks that a key has the half that its use needs, and that its halves can be read and belong together. */
function reviewMaterial(review: ConfigReview, at: Path, key: KeyTree): void {
  if (key.use === 'sign' && !key.private) {
    review.report([...at, 'private'], 'is missing: this key signs')
    return
  }
  if (!key.private && !key.public) review.report([...at, 'public'], 'is missing')
  const ofPrivate = readHalf(review, at, key, 'private')
  const ofPublic = readHalf(review, at, key, 'public')
  // Where both are given, only the private key is used; a public key that differs from it means that one is wrong.
  if (ofPrivate && ofPublic && !isSameKey(ofPrivate, ofPublic))
    review.report([...at, 'public'], 'does not belong to the key in private')
}

/** Keys of different kinds are not compared: OpenSSL would remember that as an error, and fail to read the next key. */
function isSameKey(one: KeyMaterial, other: KeyMaterial): boolean {
  return one.algorithm === other.algorithm && one.publicKey.equals(other.publicKey)
}

/** undefined if the key lacks this half, or it has been reported. */
function readHalf(
  review: ConfigReview,
  at: Path,
  key: KeyTree,
  half: 'private' | 'public',
): KeyMaterial | undefined {
  const path = [...at, half]
  const reference = key[half]
  const text = reference && review.secret(path, reference)
  if (text === undefined || !review.isValid(['tokens', 'algorithm'])) return undefined
  const { algorithm } = review.tree.tokens
  const material = parseKeyMaterial(text, half, algorithm)
  if ('unfit' in material) {
    review.report(path, material.unfit)
    return undefined
  }
  if (half === 'private' && key.use === 'sign' && material.algorithm !== algorithm) {
    review.report(path, `is a key for ${material.algorithm}, but tokens.algorithm is ${algorithm}`)
    return undefined
  }
  return material
}

const creationHint = 'create one with: openssl rand -base64 32'

/** Checks that an existing sealing key is valid. It is only created with SQLite, which has a single instance. */
export function reviewKeys(review: ConfigReview): void {
  const path = ['keys', 'sealingKey']
  if (!review.isValid(path) || !review.isValid(['store', 'driver'])) return
  const { sealingKey } = review.tree.keys
  const isMadeAtStart = review.tree.store.driver === 'sqlite' && sealingKey.file !== undefined
  const text = isMadeAtStart
    ? review.secretIfPresent(path, sealingKey)
    : review.secret(path, sealingKey, sealingKey.file === undefined ? undefined : creationHint)
  if (text !== undefined && !parseSealingKeys(text)) {
    review.report(path, `is not a sealing key: it must be 32 bytes in base64 or hexadecimal; ${creationHint}`)
  }
}
