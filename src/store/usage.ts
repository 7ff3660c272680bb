import { compareTexts } from '#platform/text.ts'

/** What accounts have used: requests and units by UTC day, key and route. Days are numbers of days since 1970. */
export interface UsageStore {
  /**
   * Adds counts in one step. A repeated batch, whose response was lost, is not added again, for an hour. Counts are
   * dropped for accounts that do not exist, principals that were not admitted, and days that are no longer kept.
   */
  addUsage(batch: UsageBatch): Promise<void>
  /**
   * Admits principals of foreign issuers, whose counts are otherwise dropped, until none of their counts are kept. An
   * ID that ends with a colon stands for all others of its issuer, and is always admitted.
   * @returns those that exceed `usagePrincipalsMax`
   */
  admitUsagePrincipals(ids: readonly string[], today: number): Promise<readonly string[]>
  /** Principals with usage. @param cursor of the previous page; undefined = the first */
  listUsagePrincipals(cursor: string | undefined): Promise<FoundPrincipals>
  /** What an account has used on some days, by day, key and route; empty if there is no such account. */
  readUsage(accountId: string, days: DayRange): Promise<readonly UsageCount[]>
}

/** How many principals of foreign issuers are counted separately at once, as issuers may have any number. */
export const usagePrincipalsMax = 100_000

/** A page of IDs, unordered; an ID may occur twice. */
interface FoundPrincipals {
  readonly ids: readonly string[]
  /** For the next page; undefined = this is the last. */
  readonly cursor: string | undefined
}

/** For how many days before today counts are kept; they are removed gradually with later writes. */
export const usageDaysKept = 400

/** How many counts a batch may have: SQLite or Redis take some milliseconds for it. */
export const usageBatchMax = 200

export interface UsageBatch {
  /** Random. */
  readonly id: string
  readonly today: number
  /** At most `usageBatchMax`. */
  readonly entries: readonly UsageEntry[]
}

/** From one day to another, both included. */
export interface DayRange {
  readonly from: number
  readonly to: number
}

export interface UsageCount {
  readonly day: number
  /** The name of the secret key of the request, or of the one that its token was issued for. */
  readonly key: string
  readonly route: string
  readonly requests: number
  readonly units: number
}

export interface UsageEntry extends UsageCount {
  readonly accountId: string
}

/** Whether counts of a day are still kept. */
export function isKept(day: number, today: number): boolean {
  return day >= today - usageDaysKept
}

/** Orders by day, then by key and route in byte order, as SQLite orders texts. */
export function compareUsage(one: UsageCount, other: UsageCount): number {
  return one.day - other.day || compareTexts(one.key, other.key) || compareTexts(one.route, other.route)
}

export function totalOf(counts: readonly UsageCount[]): Pick<UsageCount, 'requests' | 'units'> {
  const total = { requests: 0, units: 0 }
  for (const { requests, units } of counts) {
    total.requests += requests
    total.units += units
  }
  return total
}
