/** What a store tells of itself, beside its data. */
export interface StoreDiagnostics {
  /** Makes a write that changes no data. @throws GatehouseError `store-unavailable` where it is not taken */
  probeWrite(): Promise<void>
  /** Told of each write: whether it was taken. */
  onWrite(listener: (isTaken: boolean) => void): void
  /** Settings with which data can be lost, in words for an operator; none = there are none. @throws as `probeWrite` */
  findRisks(): Promise<readonly string[]>
}

/** What operators are told of the store, as plain JSON. */
export interface StoreState {
  /** Why it takes no writes; null = it takes them, or is out of reach. */
  readonly writesRefused: string | null
  /** See `findRisks`. */
  readonly risks: readonly string[]
}

/** Tells listeners of writes. */
export function createWriteListeners() {
  const listeners: ((isTaken: boolean) => void)[] = []

  function notify(isTaken: boolean): void {
    for (const listener of listeners) listener(isTaken)
  }

  /** Tells what becomes of a write, which stays as it is. */
  async function report<Result>(write: Promise<Result>): Promise<Result> {
    try {
      const result = await write
      notify(true)
      return result
    } catch (error) {
      notify(false)
      throw error
    }
  }

  return { report, onWrite: (listener: (isTaken: boolean) => void) => void listeners.push(listener) }
}
