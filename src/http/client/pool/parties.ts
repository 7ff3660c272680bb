import type { Party } from './claim.ts'

/** So many that use nothing are kept at least: most come again, and dropping them is work for the collector. */
const keptMin = 1_024

/** The parties of one kind, by name. Those that use nothing are dropped once there are twice as many as are in use. */
export class Parties<Kind extends Party> {
  readonly #create: () => Kind
  readonly #byName = new Map<string, Kind>()
  #purgeAt = keptMin

  constructor(create: () => Kind) {
    this.#create = create
  }

  of(name: string): Kind {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    if (this.#byName.size >= this.#purgeAt) this.#purge()
    const party = this.#create()
    this.#byName.set(name, party)
    return party
  }

  /** Forgets all, whatever they use. */
  clear(): void {
    this.#byName.clear()
    this.#purgeAt = keptMin
  }

  #purge(): void {
    for (const [name, { inUse, waiting }] of this.#byName)
      if (inUse === 0 && waiting === 0) this.#byName.delete(name)
    this.#purgeAt = Math.max(keptMin, 2 * this.#byName.size)
  }
}
