import { isSame } from '../platform/is-same.ts'
import { type UsageEntry, usageBatchMax } from '../store/usage.ts'

/** A route as its use is counted. */
export interface UsedRoute {
  readonly name: string
  /** Its place in its table, where it has one: the last use of each is remembered. */
  readonly index?: number | undefined
}

/** Who used it. */
export interface UsageCaller {
  readonly accountId: string
  /** The name of the secret key; undefined = not known. */
  readonly key: string | undefined
  /** For this module alone: where a recent use was counted, and the name of its route. */
  recentUse?: object | undefined
  recentRoute?: string | undefined
}

/** What a caller used of a route with one key on one day, and was not handed over yet. */
export interface Count {
  /** Of the counts that it belongs to; 0 = dropped. Not those themselves: a caller would keep all of them in memory. */
  epoch: number
  readonly accountId: string
  readonly route: string
  readonly key: string
  requests: number
  units: number
  /** Whether it is to be handed over. */
  isPending: boolean
  /** The round in which it was handed over last. */
  round: number
  /** That of another key of the account; undefined = it is the last of the list. */
  next: Count | undefined
}

let lastEpoch = 0

/**
 * Up to so many that were handed over are kept for one more round: new ones every second live just long enough to be moved to
 * V8's old generation, and 3,000 of them fill it within 15 to 25 s.
 */
const keptMax = 10_000

/**
 * What was counted on one day: by account, and by route a list of the counts of its keys, of which few are in use at
 * once. By account first, as there are callers of thousands of routes, and what belongs to a caller is used for all.
 */
export class DayCounts {
  readonly day: number
  /** No others have the same. */
  readonly epoch = ++lastEpoch
  readonly #accounts = new Map<string, Map<string, Count>>()
  #pending: Count[] = []
  /** Those that were handed over in the last round. */
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

  /** Only where there is none yet. */
  add({ name: route }: UsedRoute, { accountId, key = '' }: UsageCaller): Count {
    const routes = this.#accounts.get(accountId) ?? new Map<string, Count>()
    const next = routes.get(route)
    const { epoch } = this
    const added = { epoch, accountId, route, key, requests: 0, units: 0, isPending: false, round: 0, next }
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
   * Hands over what is pending, to be written. A count is read when its batch is: until then what is added to it is part of
   * it. Only once the batches of the last round are read.
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

  /** Drops those that were not used since they were handed over. */
  #dropUnused(counts: readonly Count[]): void {
    for (const count of counts) if (!count.isPending) this.#drop(count)
  }

  #drop(count: Count): void {
    const { accountId, route, next } = count
    const routes = this.#accounts.get(accountId)
    count.epoch = 0
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

/** Where recent uses were counted: with their caller, and by the index of their route, for callers of many routes. */
export class RecentUses {
  readonly #byIndex: (Count | undefined)[] = []

  /** @param epoch of the counts that it must belong to */
  find({ name, index }: UsedRoute, caller: UsageCaller, epoch: number): Count | undefined {
    const recent =
      // The cast is sound: nothing else writes it.
      caller.recentRoute === name ? (caller.recentUse as Count | undefined) : this.#at(index)
    if (recent === undefined || recent.epoch !== epoch) return undefined
    return isSame(recent.route, name) && isOf(recent, caller) ? recent : undefined
  }

  keep({ name, index }: UsedRoute, caller: UsageCaller, counted: Count): void {
    caller.recentUse = counted
    caller.recentRoute = name
    if (index === undefined) return
    while (this.#byIndex.length <= index) this.#byIndex.push(undefined)
    this.#byIndex[index] = counted
  }

  #at(index: number | undefined): Count | undefined {
    return index === undefined || index >= this.#byIndex.length ? undefined : this.#byIndex[index]
  }
}

/** A copy of a caller, with another account or key, has the same last use. */
function isOf(count: Count, { accountId, key = '' }: UsageCaller): boolean {
  return isSame(count.accountId, accountId) && count.key === key
}
