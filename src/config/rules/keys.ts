import { parseSealingKeys } from '#platform/secrets/sealing-key.ts'
import type { Review } from '../review.ts'

const creationHint = 'create one with: openssl rand -base64 32'

/** Checks that an existing sealing key is valid. It is created only with SQLite, which has a single instance. */
export function reviewKeys(review: Review): void {
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
