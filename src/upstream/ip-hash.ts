import { type Candidate, isEligible } from './target.ts'

/**
 * Gives each client address a fixed target, by weight (weighted rendezvous hashing): a target that drops out moves only
 * its own clients, and they return when it does. All processes agree, since only addresses and origins count.
 */
export function createIpHash<Some extends Candidate>(targets: readonly Some[]) {
  const seeded = targets.map((target, index) => ({
    target,
    seed: mix(hashOf(target.origin) + countBefore(index)),
  }))

  /** Two targets with the same origin must each get their share. */
  function countBefore(index: number): number {
    return targets.slice(0, index).filter(({ origin }) => origin === targets[index]?.origin).length
  }

  return function targetOf(clientAddress: string, tried: readonly Some[]): Some | undefined {
    const address = hashOf(clientAddress)
    let best: Some | undefined
    let bestScore = 0
    for (const { target, seed } of seeded) {
      const score = target.weight / -Math.log(toFraction(mix(address ^ seed)))
      if (score <= bestScore || !isEligible(target, tried)) continue
      best = target
      bestScore = score
    }
    return best
  }
}

/** FNV-1a in 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash
}

/** Lets every bit depend on every other (the finalizer of MurmurHash3). */
function mix(hash: number): number {
  let mixed = hash
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/** Above 0 and below 1. */
function toFraction(hash: number): number {
  return ((hash >>> 0) + 0.5) / 2 ** 32
}
