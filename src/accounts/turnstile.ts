import { GatehouseError } from '../errors.ts'

/** Whose work it is. */
export interface Place {
  /** Each client address has only so many places. */
  readonly client: string
  /** Networks take turns. */
  readonly network: string
  /** Goes before strangers. */
  readonly isKnown: boolean
}

export interface Turnstile {
  /**
   * Runs work once it is its turn.
   * @throws GatehouseError `sign-in-busy` if there is no place left, it is given to somebody who has fewer, or the turn
   *   does not come in time
   */
  pass<Result>(place: Place, work: () => Promise<Result>): Promise<Result>
}

export interface TurnstileOptions {
  readonly parallel: number
  /** Of strangers, and as many again of known clients. */
  readonly waitingMax: number
  /** Of one client address. */
  readonly waitingOfOneMax: number
  readonly waitMs: number
}

interface Waiting extends Place {
  start(): void
  refuse(): void
}

/**
 * Lets work through a few at a time: expensive work must not take the whole machine. Known clients go first; among each
 * of both kinds the networks take turns, and within a network its clients. Where all places are taken, one of the
 * network that has most of them goes to a network that has fewer.
 */
export function createTurnstile({
  parallel,
  waitingMax,
  waitingOfOneMax,
  waitMs,
}: TurnstileOptions): Turnstile {
  /** In the order of coming; at most `waitingMax` of each kind, so that they can all be looked at. */
  let waiting: Waiting[] = []
  /** When a network, and a client, that waits had its last turn, counted in turns. */
  let turns = new Map<string, number>()
  let turn = 0
  let running = 0

  async function pass<Result>(place: Place, work: () => Promise<Result>): Promise<Result> {
    if (running >= parallel) await wait(place)
    else running++
    try {
      return await work()
    } finally {
      // The place is handed on rather than freed, so that no other work gets in between.
      const next = takeNext()
      if (next) next.start()
      else running--
    }
  }

  function wait(place: Place): Promise<void> {
    makeRoom(place)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting = waiting.filter((other) => other !== entry)
        entry.refuse()
      }, waitMs)
      const entry: Waiting = {
        ...place,
        start: () => {
          clearTimeout(timer)
          resolve()
        },
        refuse: () => {
          clearTimeout(timer)
          reject(new GatehouseError('sign-in-busy'))
        },
      }
      waiting.push(entry)
    })
  }

  /** @throws GatehouseError `sign-in-busy` where nobody has more places than this one would get */
  function makeRoom({ client, network, isKnown }: Place): void {
    const rivals = waiting.filter((other) => other.isKnown === isKnown)
    const ofClient = countBy(rivals, (other) => other.client)
    if ((ofClient.get(client) ?? 0) >= waitingOfOneMax) throw new GatehouseError('sign-in-busy')
    if (rivals.length < waitingMax) return
    const ofNetwork = countBy(rivals, (other) => other.network)
    const largest = greatest(ofNetwork)
    const inLargest = rivals.filter((other) => other.network === largest)
    const largestClient = greatest(countBy(inLargest, (other) => other.client))
    const isFairer =
      largest === network
        ? (ofClient.get(largestClient) ?? 0) > (ofClient.get(client) ?? 0) + 1
        : (ofNetwork.get(largest) ?? 0) > (ofNetwork.get(network) ?? 0) + 1
    const last = inLargest.findLast((other) => other.client === largestClient)
    if (!isFairer || !last) throw new GatehouseError('sign-in-busy')
    waiting = waiting.filter((other) => other !== last)
    last.refuse()
  }

  function takeNext(): Waiting | undefined {
    const known = waiting.filter(({ isKnown }) => isKnown)
    const candidates = known.length > 0 ? known : waiting
    let next: Waiting | undefined
    for (const other of candidates) if (!next || isBefore(other, next)) next = other
    if (!next) {
      turns.clear()
      return undefined
    }
    waiting = waiting.filter((other) => other !== next)
    turn++
    turns.set(networkName(next), turn)
    turns.set(clientName(next), turn)
    const names = new Set(waiting.flatMap((other) => [networkName(other), clientName(other)]))
    turns = new Map([...turns].filter(([name, at]) => names.has(name) || at > turn - waitingMax))
    return next
  }

  function isBefore(one: Place, other: Place): boolean {
    const byNetwork = lastTurn(networkName(one)) - lastTurn(networkName(other))
    if (one.network !== other.network && byNetwork !== 0) return byNetwork < 0
    return lastTurn(clientName(one)) < lastTurn(clientName(other))
  }

  function lastTurn(name: string): number {
    return turns.get(name) ?? 0
  }

  return { pass }
}

function networkName({ network }: Place): string {
  return `network ${network}`
}

function clientName({ client }: Place): string {
  return `client ${client}`
}

function countBy(all: readonly Waiting[], nameOf: (one: Waiting) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1)
  return counts
}

/** The name with the greatest count; '' where there is none. */
function greatest(counts: ReadonlyMap<string, number>): string {
  let name = ''
  for (const [other, count] of counts) if (count > (counts.get(name) ?? 0)) name = other
  return name
}
