import type { Test } from 'tap'
import type { Store } from '#store/store.ts'

/** Where a store is, empty at first. Every call opens it once more; what was opened is closed with the test. */
export interface Place {
  open(): Promise<Store>
}

/** Finds an empty place for one case: the same cases run wherever there is a way to make one. */
export type NewPlace = (t: Test) => Promise<Place>

/** A test of the store at a place of its own. */
export type StoreCase = (t: Test, place: Place, store: Store) => Promise<void>

/** Runs a case at an empty place, with the store opened once. */
export function runCase(t: Test, newPlace: NewPlace, guarantee: string, work: StoreCase): void {
  t.test(guarantee, async (t) => {
    const place = await newPlace(t)
    await work(t, place, await place.open())
  })
}

/** Opens a place as often as asked: clients that come at the same time, each on a connection of its own. */
export function openMany(place: Place, count: number): Promise<readonly Store[]> {
  return Promise.all(Array.from({ length: count }, () => place.open()))
}
