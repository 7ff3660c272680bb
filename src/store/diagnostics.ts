/** Diagnostics of a store: write probes and risky settings. */
export interface StoreDiagnostics {
  /** Makes a write that changes no data. @throws GatehouseError `store-unavailable` where the write fails */
  probeWrite(): Promise<void>
  /** Called after each write, with whether it succeeded. */
  onWrite(listener: (isAccepted: boolean) => void): void
  /** Settings with which data can be lost, as texts for an operator; empty = none. @throws as `probeWrite` */
  findRisks(): Promise<readonly string[]>
}

/** State of the store as reported to operators, as plain JSON. */
export interface StoreState {
  /** Why it rejects writes; null = it accepts them, or is unreachable. */
  readonly writesRefused: string | null
  /** See `findRisks`. */
  readonly risks: readonly string[]
}

/** Notifies listeners of writes. */
export function createWriteListeners() {
  const listeners: ((isAccepted: boolean) => void)[] = []

  function notify(isAccepted: boolean): void {
    for (const listener of listeners) listener(isAccepted)
  }

  /** Reports the outcome of a write; its result or error passes through unchanged. */
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

  return { report, onWrite: (listener: (isAccepted: boolean) => void) => void listeners.push(listener) }
}
