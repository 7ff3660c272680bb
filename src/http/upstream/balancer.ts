import { type Candidate, isEligible, type Target } from './target.ts'
import type { TargetIds } from './target-ids.ts'
import type { UpstreamRequest } from './upstream-request.ts'

export type Balancing = 'roundRobin' | 'leastRequests' | 'ipHash' | 'sticky'

/**
 * Chooses the target of a request.
 * @param tried the targets at which the request has failed; empty = the first attempt
 * @returns undefined if none is healthy, or all healthy ones have been tried
 */
type Balancer<Some> = (
  caller: Pick<UpstreamRequest, 'clientAddress' | 'targetIds'>,
  tried: readonly Some[],
) => Some | undefined

/** @param targetIds needed where balancing is `sticky` */
export function createBalancer<Some extends Candidate>(
  balancing: Balancing,
  targets: readonly [Some, ...Some[]],
  targetIds?: TargetIds,
): Balancer<Some> {
  const [only] = targets
  // Most upstreams have one target without health checks, which leaves no choice.
  if (targets.length === 1 && !only.health) return (_caller, tried) => (tried.length === 0 ? only : undefined)
  const pick = createStrategy(balancing, targets, targetIds)
  return function choose(caller, tried) {
    const target = pick(caller, tried)
    if (target?.health?.isEjected) target.health.beginTrial()
    return target
  }
}

function createStrategy<Some extends Candidate>(
  balancing: Balancing,
  targets: readonly Some[],
  targetIds: TargetIds | undefined,
): Balancer<Some> {
  const nextTarget = createWeightedRoundRobin(targets)
  switch (balancing) {
    case 'roundRobin':
      return (_caller, tried) => nextTarget(tried, Number.POSITIVE_INFINITY)
    case 'leastRequests':
      // Targets with the same least load take turns.
      return (_caller, tried) => nextTarget(tried, leastLoad(targets, tried))
    case 'ipHash': {
      const targetOf = createIpHash(targets)
      return ({ clientAddress }, tried) => targetOf(clientAddress, tried)
    }
    case 'sticky':
      return (caller, tried) => {
        const ids = caller.targetIds
        const own = targets.find((target) => targetIds?.isNamed(target, ids) && isEligible(target, tried))
        return own ?? nextTarget(tried, Number.POSITIVE_INFINITY)
      }
    default:
      return balancing satisfies never
  }
}

/**
 * Smooth weighted round-robin, as in nginx: 2 to 1 gives A B A, not A A B.
 * @returns a function that chooses the next of the eligible targets whose load is at most `loadMax`; undefined = none
 */
function createWeightedRoundRobin<Some extends Candidate>(targets: readonly Some[]) {
  const entries = targets.map((target) => ({ target, credit: 0 }))
  return function nextTarget(tried: readonly Some[], loadMax: number): Some | undefined {
    let next: (typeof entries)[number] | undefined
    let total = 0
    for (const entry of entries) {
      const { target } = entry
      if (loadOf(target) > loadMax || !isEligible(target, tried)) continue
      entry.credit += target.weight
      total += target.weight
      if (next === undefined || entry.credit > next.credit) next = entry
    }
    if (next) next.credit -= total
    return next?.target
  }
}

function leastLoad<Some extends Candidate>(targets: readonly Some[], tried: readonly Some[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const target of targets) {
    if (loadOf(target) < least && isEligible(target, tried)) least = loadOf(target)
  }
  return least
}

/** Requests in flight relative to the target's weight. */
function loadOf({ inFlight, weight }: Candidate): number {
  return inFlight / weight
}

/**
 * Gives each client address a fixed target, in proportion to the weights (weighted rendezvous hashing). If a target
 * drops out, only its own clients move to others, and they return when it does. All processes choose alike, as the
 * choice depends only on the client's address and on the names and weights of the targets.
 */
function createIpHash<Some extends Candidate>(targets: readonly Some[]) {
  const seeded = targets.map((target, index) => ({
    target,
    seed: mix(hashOf(target.name) + countBefore(index)),
  }))

  /** Tells targets with the same name apart, as each must get its share. */
  function countBefore(index: number): number {
    return targets.slice(0, index).filter(({ name }) => name === targets[index]?.name).length
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

/** Makes every bit depend on every other (the finalizer of MurmurHash3). */
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

/**
 * @param tried the targets at which the request has failed
 * @returns undefined if none is left
 */
export type ChooseTarget = (
  request: Pick<UpstreamRequest, 'clientAddress' | 'clientSocket' | 'targetIds'>,
  tried: readonly Target[],
) => Target | undefined

/** Prefers the target at which a connection is reserved for the client: a handshake continues where it began. */
export function preferBound(targets: readonly Target[], chooseTarget: Balancer<Target>): ChooseTarget {
  if (targets.length === 1) return chooseTarget
  return function choose(request, tried) {
    const bound = tried.length === 0 ? targets.find(({ pool }) => pool.hasBound(request)) : undefined
    return bound && bound.health?.isEjected !== true ? bound : chooseTarget(request, tried)
  }
}
