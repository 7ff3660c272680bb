/** The client of a failed request. */
export interface FailedClient {
  readonly clientNetwork: string
  readonly accountId: string | undefined
}

interface Failure {
  readonly at: number
  readonly client: FailedClient | undefined
}

/**
 * Failed requests to a target, as evidence against it. A request that was never sent, for lack of a connection, is
 * evidence by itself. The failure of a request that was sent may be due to the request: so at most half of the failures
 * that count may come from one client network or one account.
 */
export class FailedRequests {
  readonly #threshold: number
  /** The oldest first. */
  #failures: Failure[] = []

  /** @param threshold how many have to count, from 1 */
  constructor(threshold: number) {
    this.#threshold = threshold
  }

  /** @param client undefined = the request was never sent */
  add(at: number, client: FailedClient | undefined): void {
    // More of one client add nothing, and must not fill the memory.
    if (client && this.#countOf(client) >= this.#threshold) {
      const oldest = this.#failures.findIndex((failure) => isSame(failure.client, client))
      this.#failures.splice(oldest, 1)
    }
    this.#failures.push({ at, client })
  }

  forgetBefore(at: number): void {
    if ((this.#failures[0]?.at ?? Number.POSITIVE_INFINITY) > at) return
    this.#failures = this.#failures.filter((failure) => failure.at > at)
  }

  clear(): void {
    this.#failures = []
  }

  isThresholdReached(): boolean {
    if (this.#failures.length < this.#threshold) return false
    const clients = this.#failures.flatMap(({ client }) => client ?? [])
    const mostOfOne = Math.max(
      mostOf(clients.map(({ clientNetwork }) => clientNetwork)),
      mostOf(clients.flatMap(({ accountId }) => accountId ?? [])),
    )
    const counting = Math.min(clients.length, 2 * (clients.length - mostOfOne))
    return this.#failures.length - clients.length + counting >= this.#threshold
  }

  #countOf(client: FailedClient): number {
    return this.#failures.filter((failure) => isSame(failure.client, client)).length
  }
}

/** The count of the most frequent name. */
function mostOf(names: readonly string[]): number {
  const counts = new Map<string, number>()
  let most = 0
  for (const name of names) {
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    most = Math.max(most, count)
  }
  return most
}

/** One client may have several accounts, and one account several networks. */
function isSame(one: FailedClient | undefined, other: FailedClient): boolean {
  if (one === undefined) return false
  if (one.clientNetwork === other.clientNetwork) return true
  return one.accountId !== undefined && one.accountId === other.accountId
}
