import { createHmac } from 'node:crypto'
import type { Keys } from '#platform/secrets/sealing.ts'
import type { Target } from './target.ts'

/** The IDs by which clients name their targets: without the key nobody can read or make one. */
export interface TargetIds {
  /** Depends only on the target's name and the key, so it is the same in all processes and after a restart. */
  idOf(target: Pick<Target, 'name'>): string
  /** Whether one of the IDs is the target's, including one made with the previous key. */
  isNamed(target: Pick<Target, 'name'>, ids: readonly string[]): boolean
}

/** 132 bits. */
export const targetIdLength = 22

/**
 * An ID is not a credential, as every client may be sent to every target, so it need not be compared in constant time.
 * @param keys the first makes IDs, all are accepted
 * @param upstream the upstream that the IDs are for: an ID of another upstream never matches
 */
export function createTargetIds(keys: () => Keys, upstream: string): TargetIds {
  const known = new WeakMap<object, { readonly keys: Keys; readonly ids: readonly string[] }>()

  function idsOf(target: Pick<Target, 'name'>): readonly string[] {
    const current = keys()
    const found = known.get(target)
    if (found?.keys === current) return found.ids
    const ids = current.map((key) =>
      createHmac('sha256', key)
        .update(`${upstream}\0${target.name}`)
        .digest('base64url')
        .slice(0, targetIdLength),
    )
    known.set(target, { keys: current, ids })
    return ids
  }

  return {
    idOf: (target) => idsOf(target)[0] ?? '',
    isNamed: (target, ids) => ids.length > 0 && idsOf(target).some((id) => ids.includes(id)),
  }
}
