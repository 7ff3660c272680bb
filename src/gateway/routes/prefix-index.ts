interface Prefixed {
  /** Whole segments, without a slash at the end; empty = that of all paths. */
  readonly prefix: string
}

/** One of the groups whose prefixes have the same hash. */
interface Entry<Group> {
  readonly group: Group
  readonly next: Entry<Group> | undefined
}

/**
 * Groups of routes by their prefixes. They are found by a hash, and then compared: for a map keyed by text V8 would
 * look up each part of a path in its table of internalized strings first.
 */
export class PrefixIndex<Group extends Prefixed> {
  readonly #byHash = new Map<number, Entry<Group>>()

  constructor(groups: readonly Group[]) {
    for (const group of groups) {
      const { prefix } = group
      let hash = 0
      for (let at = 0; at < prefix.length; at++) hash = extended(hash, prefix.charCodeAt(at))
      this.#byHash.set(hash, { group, next: this.#byHash.get(hash) })
    }
  }

  /** The group whose prefix is the first part of a path. @param hash that of this part */
  find(path: string, length: number, hash: number): Group | undefined {
    for (let entry = this.#byHash.get(hash); entry !== undefined; entry = entry.next) {
      const { prefix } = entry.group
      if (prefix.length === length && path.startsWith(prefix)) return entry.group
    }
    return undefined
  }
}

/** The prefixes that a path has: their lengths and hashes, the shortest first. One list for all paths (hot). */
const prefixes: { length: number; hash: number }[] = []

/**
 * The group with the longest prefix of a path.
 * @param indexes where the prefix is the same, a group of an earlier one wins
 * @param depthMax how many segments the longest prefix has: a path of thousands must not cost thousands of look-ups
 */
export function findByPrefix<Group extends Prefixed>(
  indexes: readonly PrefixIndex<Group>[],
  path: string,
  depthMax: number,
): Group | undefined {
  for (let depth = readPrefixes(path, depthMax); depth >= 0; depth--) {
    const { length, hash } = prefixes[depth] ?? whole
    for (const index of indexes) {
      const group = index.find(path, length, hash)
      if (group !== undefined) return group
    }
  }
  return undefined
}

/** @returns the place of the longest one */
function readPrefixes(path: string, depthMax: number): number {
  let depth = 0
  let hash = 0
  for (let at = 0; depth < depthMax && at < path.length; at++) {
    const code = path.charCodeAt(at)
    if (code === slash && at > 0) keep(++depth, at, hash)
    hash = extended(hash, code)
  }
  if (depth < depthMax && !path.endsWith('/')) keep(++depth, path.length, hash)
  return depth
}

function keep(depth: number, length: number, hash: number): void {
  const kept = prefixes[depth]
  if (kept === undefined) prefixes[depth] = { length, hash }
  else {
    kept.length = length
    kept.hash = hash
  }
}

/** The prefix of all paths. */
const whole = { length: 0, hash: 0 }
prefixes.push(whole)

const slash = '/'.charCodeAt(0)

/** The hash of a text with one more character: 30 bits, which V8 stores without an allocation. */
function extended(hash: number, code: number): number {
  return (Math.imul(hash, 31) + code) & 0x3fffffff
}
