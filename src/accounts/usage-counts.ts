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

/** What a caller used of a route with one key on one day. */
export interface Count {
  /** Of the counts that it belongs to. Not those themselves: a caller would keep all of them in memory. */
  readonly epoch: number
  readonly accountId: string
  readonly route: string
  readonly key: string
  requests: number
  units: number
  /** That of another key of the account; undefined = it is the last of the list. */
  readonly next: Count | undefined
}

let lastEpoch = 0

/**
 * What was counted on one day: by account, and by route a list of the counts of its keys, of which few are in use at
 * once. By account first, as there are callers of thousands of routes, and what belongs to a caller is used for all.
 */
export class DayCounts {
  readonly day: number
  /** No others have the same. */
  readonly epoch = ++lastEpoch
  readonly #accounts = new Map<string, Map<string, Count>>()

  constructor(day: number) {
    this.day = day
  }

  get isEmpty(): boolean {
    return this.#accounts.size === 0
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
    const added = { epoch: this.epoch, accountId, route, key, requests: 0, units: 0, next }
    routes.set(route, added)
    this.#accounts.set(accountId, routes)
    return added
  }

  *batches(): Generator<readonly UsageEntry[]> {
    const { day } = this
    let entries: UsageEntry[] = []
    for (const [accountId, routes] of this.#accounts) {
      for (const [route, first] of routes) {
        for (let count: Count | undefined = first; count !== undefined; count = count.next) {
          const { key, requests, units } = count
          entries.push({ accountId, key, day, route, requests, units })
          if (entries.length < usageBatchMax) continue
          yield entries
          entries = []
        }
      }
    }
    if (entries.length > 0) yield entries
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
    return recent?.epoch === epoch && recent.route === name && isOf(recent, caller) ? recent : undefined
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
  return count.accountId === accountId && count.key === key
}
