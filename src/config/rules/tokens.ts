import { parseKeyMaterial } from '../../tokens/key-material.ts'
import type { Path } from '../problem.ts'
import type { Review } from '../review.ts'

type KeyTree = Review['tree']['tokens']['keys'][number]

/** Checks keys from files: exactly one signs, each is a valid key, and none is too weak. */
export function reviewTokens(review: Review): void {
  const path = ['tokens', 'keys']
  if (!review.hasValidShape(path)) return
  const { keys } = review.tree.tokens
  const kids = new Set<string>()
  for (const [index, key] of keys.entries()) {
    const at = [...path, index]
    if (review.isValid([...at, 'kid'])) {
      if (kids.has(key.kid)) review.report([...at, 'kid'], `duplicate kid "${key.kid}"`)
      kids.add(key.kid)
    }
    if (review.isValid(at)) reviewMaterial(review, at, key)
  }
  if (keys.length === 0 || !keys.every((_, index) => review.isValid([...path, index, 'use']))) return
  const signers = keys.filter((key) => key.use === 'sign').length
  if (signers !== 1) review.report(path, `exactly one key must have use: sign, not ${signers}`)
}

/** Checks that a key has the half that its use needs, and that this can be read. */
function reviewMaterial(review: Review, at: Path, key: KeyTree): void {
  const half = key.private ? 'private' : 'public'
  const path = [...at, half]
  const reference = key[half]
  if (key.use === 'sign' && !key.private) review.report([...at, 'private'], 'is missing: this key signs')
  else if (!reference) review.report(path, 'is missing')
  else {
    const text = review.secret(path, reference)
    const isReadable = text !== undefined && review.isValid(['tokens', 'algorithm'])
    if (isReadable) reviewKey(review, { path, text, half, use: key.use })
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
