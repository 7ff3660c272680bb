import { GatehouseError } from '../errors.ts'

export interface Turnstile {
  /**
   * Runs work once it is its turn.
   * @param who whose work it is: each may take only so many places in the queue
   * @throws GatehouseError `sign-in-busy` if there is no place left
   */
  pass<Result>(who: string, work: () => Promise<Result>): Promise<Result>
}

export interface TurnstileOptions {
  readonly parallel: number
  readonly waitingMax: number
  readonly waitingOfOneMax: number
}

/** Lets work through a few at a time: expensive work must not take the whole machine. */
export function createTurnstile({ parallel, waitingMax, waitingOfOneMax }: TurnstileOptions): Turnstile {
  const waiting: { readonly who: string; start(): void }[] = []
  let running = 0

  async function pass<Result>(who: string, work: () => Promise<Result>): Promise<Result> {
    if (running >= parallel) await wait(who)
    else running++
    try {
      return await work()
    } finally {
      // The place is handed on rather than freed, so that no other work gets in between.
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
