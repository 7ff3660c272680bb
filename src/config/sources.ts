import type { Override } from './overrides.ts'
import type { Path, Problem, Source } from './problem.ts'
import { type ConfigFile, isPlainMap } from './read.ts'
import { isSameOrAbove } from './review.ts'
import type { Finding } from './validate.ts'

/** Finds out where options come from: the file, an override, or a default. */
export interface Sources {
  /** Where the value in effect at a path comes from. */
  of(path: Path): Source
  toProblem(finding: Finding): Problem
}

export function createSources(written: ConfigFile, overrides: readonly Override[]): Sources {
  function find(path: Path, at: Finding['at'] = 'value'): Source {
    const override = overrides.findLast(
      (one) => isSameOrAbove(one.path, path) || isSameOrAbove(path, one.path),
    )
    if (override && holds(override, path)) return override.source
    const isErased = override !== undefined && isSameOrAbove(override.path, path)
    if (isErased || !isWritten(written.tree, path)) return { kind: 'default' }
    return at === 'key' ? written.locateKey(path) : written.locate(path)
  }

  /** A missing option is reported at the item that lacks it. */
  function findItem(path: Path): Source {
    for (let length = path.length - 1; length > 0; length--) {
      const item = path.slice(0, length)
      const isOverridden = overrides.some((one) => isSameOrAbove(one.path, item))
      if (!isOverridden && isWritten(written.tree, item)) return written.locate(item)
      const source = find(item)
      if (source.kind !== 'default') return source
    }
    return written.locate([])
  }

  return {
    of: (path) => find(path),
    toProblem: ({ path, at, message }) => {
      const source = find(path, at)
      return { path, message, source: source.kind === 'default' ? findItem(path) : source }
    },
  }
}

/** Whether an override gives the option at a path a value, or a part of one. */
function holds({ path: ofOverride, value }: Override, path: Path): boolean {
  return ofOverride.length > path.length || isWritten(value, path.slice(ofOverride.length))
}

function isWritten(tree: unknown, path: Path): boolean {
  let place: unknown = tree
  for (const part of path) {
    if (Array.isArray(place) && typeof part === 'number' && part < place.length) place = place[part]
    else if (isPlainMap(place) && Object.hasOwn(place, part)) place = place[part]
    else return false
  }
  return true
}
