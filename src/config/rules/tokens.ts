import { parseKeyMaterial } from '../../tokens/key-material.ts'
import type { Path } from '../problem.ts'
import type { Review } from '../review.ts'

/** Keys from files: one of them signs, each is a key, and none is too weak. */
export function reviewTokens(review: Review): void {
  if (!review.isSound(['tokens', 'keys']) || !review.isSound(['tokens', 'algorithm'])) return
  const { keys } = review.tree.tokens
  const kids = new Set<string>()
  for (const [index, key] of keys.entries()) {
    const path = ['tokens', 'keys', index]
    if (kids.has(key.kid)) review.report([...path, 'kid'], `there is another key with the ID "${key.kid}"`)
    kids.add(key.kid)
    const half = key.private ? 'private' : 'public'
    const reference = key[half]
    if (key.use === 'sign' && !key.private) review.report([...path, 'private'], 'is missing: this key signs')
    else if (!reference) review.report([...path, 'public'], 'is missing')
    else {
      const text = review.secret([...path, half], reference)
      if (text !== undefined) reviewKey(review, { path: [...path, half], text, half, use: key.use })
    }
  }
  const signers = keys.filter((key) => key.use === 'sign').length
  if (keys.length > 0 && signers !== 1) {
    review.report(['tokens', 'keys'], `exactly one key must have use: sign, not ${signers}`)
  }
}

interface KeyText {
  readonly path: Path
  readonly text: string
  readonly half: 'private' | 'public'
  readonly use: 'sign' | 'verify'
}

function reviewKey(review: Review, { path, text, half, use }: KeyText): void {
  const { algorithm } = review.tree.tokens
  const material = parseKeyMaterial(text, half, algorithm)
  if ('unfit' in material) review.report(path, material.unfit)
  else if (use === 'sign' && material.algorithm !== algorithm) {
    review.report(path, `is a key for ${material.algorithm}, but tokens.algorithm is ${algorithm}`)
  }
}
