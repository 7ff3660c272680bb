import { createHmac } from 'node:crypto'
import type { Keys } from '#platform/secrets/sealing.ts'
import type { Target } from './target.ts'

/** The IDs by which clients name their targets: who has no key can neither read nor make one. */
export interface TargetIds {
  /** Always the same for a name of a target, with the same key: in all processes, and after a restart. */
  idOf(target: Pick<Target, 'name'>): string
  /** Whether one of the IDs is the target's, also one that was made with the key before. */
  isNamed(target: Pick<Target, 'name'>, ids: readonly string[]): boolean
}

/** 132 bits. */
export const targetIdLength = 22

/**
 * An ID is no credential: every client may be sent to every target. Hence it is compared as any text is.
 * @param keys the first makes IDs, all are accepted
 * @param upstream of whose targets these are the IDs: those of another say nothing here
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
