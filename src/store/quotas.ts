import { dayOf, type EpochMs, firstOfMonth, formatDay, startOfDay } from '#platform/time.ts'

/** This many requests in each UTC day or month. */
export interface Quota {
  readonly limit: number
  readonly per: 'day' | 'month'
}

/** A UTC day or month. */
export interface QuotaWindow {
  /** Such as `2026-11-23` or `2026-11`. */
  readonly window: string
  readonly endsAt: EpochMs
  readonly windowMs: number
}

/** The quota of a secret key, besides that of its account's plan. */
export interface KeyQuota extends Quota {
  /** What it is counted by, within its account: stays the same when the key is rotated or renamed. */
  readonly id: string
}

/** What the quota of a key is counted by. No account, and no principal of an issuer, has such an ID. */
export function keyQuotaSubject(accountId: string, { id }: KeyQuota): string {
  return `${accountId} ${id}`
}

/** The owner of the quota with this subject, and the ID of the key if it is one's. */
export function parseQuotaSubject(subject: string): {
  readonly principalId: string
  readonly keyQuotaId: string | undefined
} {
  const [, accountId, keyQuotaId] = /^([^: ]+) ([^ ]+)$/.exec(subject) ?? []
  return { principalId: accountId ?? subject, keyQuotaId }
}

/** How much of quotas is used, by subject (an account, a principal of an issuer, a key), in each UTC window. */
export interface QuotaStore {
  /**
   * Takes requests from a subject's quota, and reserves some more for the holder that asks, so that it need not ask
   * for each. Counted across instances, and kept over restarts. See takeOfQuota for what is granted.
   */
  takeQuota(take: QuotaTake): Promise<QuotaGrant>
  /** What is granted and reserved of a subject's quota in a window; nothing if none was taken. */
  readQuota(subject: string, window: string): Promise<QuotaState>
}

export interface QuotaTake {
  readonly subject: string
  /** The day (`2026-11-23`) or the month (`2026-11`). */
  readonly window: string
  readonly now: EpochMs
  /** When the window ends; its count is removed some time later. */
  readonly endsAt: EpochMs
  /** Requests in the window. */
  readonly limit: number
  /** The process that asks; random. */
  readonly holder: string
  /**
   * From 1, increasing with each take of the holder. A take whose response was lost is repeated with its number: it is
   * counted once, and gets the same response.
   */
  readonly sequence: number
  /** The number of processes, at least 1: the more there are, the less each may reserve. */
  readonly holders: number
  /** How many requests wait for this take: they pass at once if they are granted. */
  readonly needed: number
  /** How many more the holder expects soon. If this and `needed` are 0, nothing is reserved. */
  readonly ahead: number
  /** How many of its reservation the holder has left and gives back. */
  readonly unused: number
  /** How many it has left and keeps; what it reserves now is added to these. */
  readonly kept: number
  /** Requests that have passed uncounted, because the store was unreachable. */
  readonly uncounted: number
}

export interface QuotaGrant {
  /** At most `needed` and a reservation; less than `needed` = the quota is used up. */
  readonly granted: number
  /** To all processes together, this included. */
  readonly grantedToAll: number
}

export interface QuotaState {
  readonly granted: number
  readonly holders: ReadonlyMap<string, QuotaHolder>
}

/** What a process got when it last asked. */
interface QuotaHolder {
  /** What it may have left of its reservation. */
  readonly reserved: number
  readonly sequence: number
  readonly granted: number
  readonly askedAt: EpochMs
}

/** Holders as plain JSON, by process ID: reserved, sequence, granted, askedAt. */
type HeldRecord = Readonly<Record<string, readonly number[]>>

export function heldRecord(holders: QuotaState['holders']): HeldRecord {
  return Object.fromEntries(
    [...holders].map(([id, { reserved, sequence, granted, askedAt }]) => [
      id,
      [reserved, sequence, granted, askedAt],
    ]),
  )
}

/** @param held from `heldRecord` */
export function holdersOf(held: HeldRecord): QuotaState['holders'] {
  const holders = Object.entries(held).map(
    ([id, [reserved = 0, sequence = 0, granted = 0, askedAt = 0]]) =>
      [id, { reserved, sequence, granted, askedAt }] as const,
  )
  return new Map(holders)
}

/** How long the count of a window is kept after its end, as the clocks of instances differ. */
export const quotaKeptMs = 3_600_000

/** After how long without a take a holder counts as gone, and what it had reserved as used. */
export const holderGoneMs = 900_000

/** The most by which a quota is exceeded: 1 %, but never more than 100 requests. */
export function quotaSlack(limit: number): number {
  return Math.min(100, quotaPercent(limit))
}

/** The most that processes reserve together if they expect many requests: 1 %. */
export function quotaPercent(limit: number): number {
  return Math.floor(limit / 100)
}

/**
 * Decides what is granted. What other processes have reserved may never be used, so up to `quotaSlack` of it does not
 * count against the limit: if no more than that is reserved, at least `limit` requests pass, and never more than
 * `quotaSlack` above it. While much of the quota is left, a process that expects many requests may reserve more, up to
 * 1 % of the limit; as the quota runs out, reservations become smaller, so that hardly more than the limit passes.
 * (scripts/take-quota.lua does the same.)
 */
export function takeOfQuota(
  state: QuotaState,
  take: QuotaTake,
): { readonly granted: number; readonly next: QuotaState } {
  const { limit, now, holder, sequence, needed, ahead, unused, kept, uncounted } = take
  const before = state.holders.get(holder)
  if (before && sequence <= before.sequence) return { granted: before.granted, next: state }
  const others = new Map([...state.holders].filter(([, { askedAt }]) => now - askedAt < holderGoneMs))
  others.delete(holder)
  const used = state.granted - unused + uncounted
  const heldByOthers = reservedBy(others)
  const room = Math.max(0, limit + Math.min(heldByOthers, quotaSlack(limit)) - used)
  const left = limit - used - needed
  // A process that only gives back asks for nothing more, but is kept: it may repeat this take too.
  const asksForMore = needed + ahead > 0
  const reserved =
    asksForMore && needed <= room ? Math.max(0, reservable(take, { left, heldByOthers }) - kept) : 0
  const granted = Math.min(needed, room) + reserved
  const next = others.set(holder, { reserved: kept + reserved, sequence, granted, askedAt: now })
  return { granted, next: { granted: used + granted, holders: next } }
}

/** @param quota `left` = requests of the quota that no one has used or reserved */
function reservable(
  { limit, holders, ahead }: QuotaTake,
  { left, heldByOthers }: { readonly left: number; readonly heldByOthers: number },
): number {
  const slack = quotaSlack(limit)
  const percent = quotaPercent(limit)
  const few = Math.min(Math.floor(slack / holders), slack - heldByOthers, Math.floor(left / (2 * holders)))
  const many = Math.min(
    ahead,
    Math.floor(percent / holders),
    percent - heldByOthers,
    Math.floor(left / (32 * holders)),
  )
  return Math.max(few, many)
}

function reservedBy(holders: QuotaState['holders']): number {
  let sum = 0
  for (const { reserved } of holders.values()) sum += reserved
  return sum
}

/**
 * How many requests have passed. Requests reserved by processes count as unused, although they may be used: the sum is
 * up to `quotaPercent` too low.
 * @param own what the asking process knows about its own reservation
 */
export function quotaUsed(
  { granted, holders }: QuotaState,
  own?: { readonly holder: string; readonly left: number; readonly uncounted: number },
): number {
  const ownReserved = own ? (holders.get(own.holder)?.reserved ?? 0) : 0
  const unused = reservedBy(holders) - ownReserved + (own?.left ?? 0)
  return Math.max(0, granted - unused + (own?.uncounted ?? 0))
}

export function quotaWindow(per: Quota['per'], now: EpochMs): QuotaWindow {
  const today = dayOf(now)
  return per === 'day'
    ? windowOf(formatDay(today), today, today + 1)
    : windowOf(formatDay(today).slice(0, 7), firstOfMonth(today, 0), firstOfMonth(today, 1))
}

function windowOf(window: string, firstDay: number, nextDay: number): QuotaWindow {
  const endsAt = startOfDay(nextDay)
  return { window, endsAt, windowMs: endsAt - startOfDay(firstDay) }
}
