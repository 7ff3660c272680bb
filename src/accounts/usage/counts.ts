import { type UsageEntry, usageBatchMax } from '#store/usage.ts'

export interface UsedRoute {
  readonly name: string
}

/** Who used it. */
export interface UsageCaller {
  readonly accountId: string
  /** The name of the secret key; undefined = not known. */
  readonly key: string | undefined
}

/** What a caller used of a route with one key on one day, as far as it has not been handed over yet. */
export interface Count {
  readonly accountId: string
  readonly route: string
  readonly key: string
  requests: number
  units: number
  /** Whether it is to be handed over. */
  isPending: boolean
  /** The round in which it was handed over last. */
  round: number
  /** The count of another key of the account; undefined = it is the last of the list. */
  next: Count | undefined
}

/** How many counts that were handed over are kept for one more round, so that they need not be made again. */
const keptMax = 10_000

/**
 * What was counted on one day: by account, then by route, then a list of the counts of its keys, few of which are in
 * use at once. The account comes first because one caller may use thousands of routes.
 */
export class DayCounts {
  readonly day: number
  readonly #accounts = new Map<string, Map<string, Count>>()
  #pending: Count[] = []
  /** The counts that were handed over in the last round. */
  #handedOver: readonly Count[] = []
  #round = 0

  constructor(day: number) {
    this.day = day
  }

  get hasPending(): boolean {
    return this.#pending.length > 0
  }

  find({ name }: UsedRoute, { accountId, key = '' }: UsageCaller): Count | undefined {
    let known = this.#accounts.get(accountId)?.get(name)
    while (known !== undefined && known.key !== key) known = known.next
    return known
  }

  /** To be called only if there is none yet. */
  add({ name: route }: UsedRoute, { accountId, key = '' }: UsageCaller): Count {
    const routes = this.#accounts.get(accountId) ?? new Map<string, Count>()
    const next = routes.get(route)
    const added = { accountId, route, key, requests: 0, units: 0, isPending: false, round: 0, next }
    routes.set(route, added)
    this.#accounts.set(accountId, routes)
    return added
  }

  /** To be called before something is added to a count that is not pending. */
  markPending(count: Count): void {
    count.isPending = true
    this.#pending.push(count)
  }

  /**
   * Hands over what is pending, to be written. A count is read together with its batch, and includes what is added
   * until then. Call this only once the batches of the last round have been read.
   */
  *batches(): Generator<readonly UsageEntry[]> {
    const { day } = this
    const round = ++this.#round
    const counts = this.#pending
    this.#pending = []
    for (let start = 0; start < counts.length; start += usageBatchMax) {
      yield counts.slice(start, start + usageBatchMax).map((count) => {
        const { accountId, route, key, requests, units } = count
        count.requests = 0
        count.units = 0
        count.isPending = false
        count.round = round
        return { accountId, key, day, route, requests, units }
      })
    }
    this.#dropUnused(this.#handedOver.filter((count) => count.round < round))
    if (counts.length > keptMax) this.#dropUnused(counts)
    this.#handedOver = counts.length > keptMax ? [] : counts
  }

  /** Drops the counts that were not used since they were handed over. */
  #dropUnused(counts: readonly Count[]): void {
    for (const count of counts) if (!count.isPending) this.#drop(count)
  }

  #drop(count: Count): void {
    const { accountId, route, next } = count
    const routes = this.#accounts.get(accountId)
    count.next = undefined
    let before = routes?.get(route)
    if (before === count) {
      if (next) routes?.set(route, next)
      else routes?.delete(route)
      if (routes?.size === 0) this.#accounts.delete(accountId)
      return
    }
    while (before !== undefined && before.next !== count) before = before.next
    if (before) before.next = next
  }
}
