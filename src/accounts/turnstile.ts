import { GatehouseError } from '../errors.ts'

export interface Turnstile {
  /**
   * Runs work once it is its turn.
   * @param who others of the same have only so many places in the queue, and leave the rest to everybody else
   * @throws GatehouseError `sign-in-busy` where there is no place
   */
  pass<Result>(who: string, work: () => Promise<Result>): Promise<Result>
}

export interface TurnstileOptions {
  readonly parallel: number
  readonly waitingMax: number
  readonly waitingOfOneMax: number
}

/** Lets work through a few at a time: dear work must not take the machine from everything else. */
export function createTurnstile({ parallel, waitingMax, waitingOfOneMax }: TurnstileOptions): Turnstile {
  const waiting: { readonly who: string; start(): void }[] = []
  let running = 0

  async function pass<Result>(who: string, work: () => Promise<Result>): Promise<Result> {
    if (running >= parallel) await wait(who)
    else running++
    try {
      return await work()
    } finally {
      // The place is handed on, rather than freed: nobody comes in between.
      const next = waiting.shift()
      if (next) next.start()
      else running--
    }
  }

  function wait(who: string): Promise<void> {
    const ofOne = waiting.filter((other) => other.who === who).length
    if (waiting.length >= waitingMax || ofOne >= waitingOfOneMax) throw new GatehouseError('sign-in-busy')
    return new Promise((resolve) => waiting.push({ who, start: resolve }))
  }

  return { pass }
}
