import { GatehouseError } from '../errors/gatehouse-error.ts'

export interface WorkOwner {
  /** Has at most `queueMaxPerClient` entries in the queue. */
  readonly client: string
  /** Networks are served in turn. */
  readonly network: string
  /** Is served before unknown clients. */
  readonly isKnown: boolean
}

interface WorkQueueOptions {
  readonly concurrency: number
  /** For unknown clients; as many again for known ones. */
  readonly queueMax: number
  /** Per client address. */
  readonly queueMaxPerClient: number
  readonly queueTimeoutMs: number
}

interface QueuedWork extends WorkOwner {
  start(): void
  refuse(): void
}

/**
 * Limits the concurrency of expensive work, which must not take the whole machine, with fair queueing by network and
 * client. Known clients are served first; among known and among unknown ones the networks are served in turn, and
 * within a network its clients. When the queue is full, a network with fewer entries displaces an entry of the network
 * with most.
 */
export function createWorkQueue({
  concurrency,
  queueMax,
  queueMaxPerClient,
  queueTimeoutMs,
}: WorkQueueOptions) {
  /** In order of arrival; at most `queueMax` known and `queueMax` unknown, so that a scan of all is cheap. */
  let queue: QueuedWork[] = []
  /** The last turn of each waiting network and client. */
  let lastTurns = new Map<string, number>()
  let turn = 0
  let running = 0

  /**
   * Runs work, possibly after a wait in the queue.
   * @throws GatehouseError `sign-in-busy` if the queue is full, the entry is displaced by an owner with fewer entries,
   * or the wait is too long
   */
  async function run<Result>(owner: WorkOwner, work: () => Promise<Result>): Promise<Result> {
    if (running >= concurrency) await waitInQueue(owner)
    else running++
    try {
      return await work()
    } finally {
      // The slot is passed on rather than freed, so that no other work gets in between.
      const next = takeNext()
      if (next) next.start()
      else running--
    }
  }

  function waitInQueue(owner: WorkOwner): Promise<void> {
    makeRoom(owner)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue = queue.filter((other) => other !== entry)
        entry.refuse()
      }, queueTimeoutMs)
      const entry: QueuedWork = {
        ...owner,
        start: () => {
          clearTimeout(timer)
          resolve()
        },
        refuse: () => {
          clearTimeout(timer)
          reject(new GatehouseError('sign-in-busy'))
        },
      }
      queue.push(entry)
    })
  }

  /** @throws GatehouseError `sign-in-busy` if no owner has more entries than this one would get */
  function makeRoom({ client, network, isKnown }: WorkOwner): void {
    const sameKind = queue.filter((other) => other.isKnown === isKnown)
    const ofClient = countBy(sameKind, (other) => other.client)
    if ((ofClient.get(client) ?? 0) >= queueMaxPerClient) throw new GatehouseError('sign-in-busy')
    if (sameKind.length < queueMax) return
    const ofNetwork = countBy(sameKind, (other) => other.network)
    const largest = largestGroup(ofNetwork)
    const inLargest = sameKind.filter((other) => other.network === largest)
    const largestClient = largestGroup(countBy(inLargest, (other) => other.client))
    const isFairer =
      largest === network
        ? (ofClient.get(largestClient) ?? 0) > (ofClient.get(client) ?? 0) + 1
        : (ofNetwork.get(largest) ?? 0) > (ofNetwork.get(network) ?? 0) + 1
    const last = inLargest.findLast((other) => other.client === largestClient)
    if (!isFairer || !last) throw new GatehouseError('sign-in-busy')
    queue = queue.filter((other) => other !== last)
    last.refuse()
  }

  function takeNext(): QueuedWork | undefined {
    const known = queue.filter(({ isKnown }) => isKnown)
    const candidates = known.length > 0 ? known : queue
    let next: QueuedWork | undefined
    for (const other of candidates) if (!next || isBefore(other, next)) next = other
    if (!next) {
      lastTurns.clear()
      return undefined
    }
    queue = queue.filter((other) => other !== next)
    turn++
    lastTurns.set(networkName(next), turn)
    lastTurns.set(clientName(next), turn)
    const names = new Set(queue.flatMap((other) => [networkName(other), clientName(other)]))
    lastTurns = new Map([...lastTurns].filter(([name, at]) => names.has(name) || at > turn - queueMax))
    return next
  }

  function isBefore(one: WorkOwner, other: WorkOwner): boolean {
    const byNetwork = lastTurn(networkName(one)) - lastTurn(networkName(other))
    if (one.network !== other.network && byNetwork !== 0) return byNetwork < 0
    return lastTurn(clientName(one)) < lastTurn(clientName(other))
  }

  function lastTurn(name: string): number {
    return lastTurns.get(name) ?? 0
  }

  return { run }
}

function networkName({ network }: WorkOwner): string {
  return `network ${network}`
}

function clientName({ client }: WorkOwner): string {
  return `client ${client}`
}

function countBy(all: readonly QueuedWork[], nameOf: (one: QueuedWork) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const one of all) counts.set(nameOf(one), (counts.get(nameOf(one)) ?? 0) + 1)
  return counts
}

/** The name with the greatest count; '' if there is none. */
function largestGroup(counts: ReadonlyMap<string, number>): string {
  let name = ''
  for (const [other, count] of counts) if (count > (counts.get(name) ?? 0)) name = other
  return name
}
