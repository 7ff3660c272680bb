/** The same random numbers each time for one seed, so that a failure can be had again. */
export interface Random {
  /** A whole number from 0, less than `below`. */
  below(below: number): number
  pick<Item>(items: readonly Item[]): Item
  bytes(length: number): Buffer
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed

  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  function below(limit: number): number {
    return Math.floor(next() * limit)
  }

  return {
    below,
    pick: (items) => {
      const [item] = items.slice(below(items.length))
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
  }
}

/** Cuts bytes into pieces of random length, none of them empty. */
export function cutAtRandom(bytes: Buffer, random: Random, longest: number): readonly Buffer[] {
  const pieces: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = start + 1 + random.below(longest)
    pieces.push(bytes.subarray(start, end))
    start = end
  }
  return pieces
}
