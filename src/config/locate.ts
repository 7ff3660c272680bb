import { isAlias, isMap, isSeq, type Pair } from 'yaml'
import type { Path } from './problem.ts'
import { nameOf, offsetOf } from './tree.ts'

/** Finds options in the text of a YAML file. */
export interface Locator {
  /** Where the value at a path begins; if it is not in the file, where the nearest part above it begins. */
  offsetOfValue(path: Path): number
  /** Where the name of the option at a path begins; an item of a list has no name: its value is taken instead. */
  offsetOfKey(path: Path): number
}

/** @param aliasTargets what each alias refers to */
export function createLocator(contents: unknown, aliasTargets: ReadonlyMap<unknown, unknown>): Locator {
  // Cached: there may be a look-up for each option, and searching a large map each time would take minutes.
  const pairsOf = new Map<unknown, ReadonlyMap<string, Pair>>()

  function offsetOfValue(path: Path): number {
    for (let length = path.length; length > 0; length--) {
      const offset = offsetOf(nodeAt(path.slice(0, length)))
      if (offset !== undefined) return offset
    }
    return 0
  }

  function offsetOfKey(path: Path): number {
    const pair = pairOf(targetOf(nodeAt(path.slice(0, -1))), path.at(-1))
    return offsetOf(pair?.key) ?? offsetOfValue(path)
  }

  function nodeAt(path: Path): unknown {
    let node = contents
    for (const part of path) {
      const parent = targetOf(node)
      node = isSeq(parent) ? parent.items[Number(part)] : pairOf(parent, part)?.value
    }
    return node
  }

  function targetOf(node: unknown): unknown {
    return isAlias(node) ? aliasTargets.get(node) : node
  }

  /** Of two pairs with the same name the last, whose value counts. */
  function pairOf(map: unknown, name: string | number | undefined): Pair | undefined {
    if (!isMap(map)) return undefined
    const known = pairsOf.get(map) ?? new Map(map.items.map((pair) => [nameOf(pair.key, aliasTargets), pair]))
    pairsOf.set(map, known)
    return known.get(String(name))
  }

  return { offsetOfValue, offsetOfKey }
}
