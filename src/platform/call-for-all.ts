/**
 * Calls a function for each item: for all of them, even if it throws for some.
 * @throws the first error, once it has been called for all
 */
export function callForAll<Item>(items: readonly Item[], call: (item: Item, index: number) => void): void {
  let failure: { readonly error: unknown } | undefined
  for (let index = 0; index < items.length; index++) {
    try {
      // The cast is sound: the index is within the list.
      call(items[index] as Item, index)
    } catch (error) {
      failure ??= { error }
    }
  }
  if (failure !== undefined) throw failure.error
}
