/**
 * Takes turns by weight, spread evenly: 2 to 1 gives A B A, not A A B.
 * @returns gives the next turn
 */
export function createRoundRobin<Item extends { readonly weight: number }>(
  items: readonly [Item, ...Item[]],
): () => Item {
  const [first, ...others] = items
  if (others.length === 0) return () => first
  const total = items.reduce((sum, { weight }) => sum + weight, 0)
  const turns = items.map((item) => ({ item, credit: 0 }))
  return () => {
    for (const turn of turns) turn.credit += turn.item.weight
    const next = turns.reduce((best, turn) => (turn.credit > best.credit ? turn : best))
    next.credit -= total
    return next.item
  }
}
