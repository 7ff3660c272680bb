import { dayOf, dayOfMonth, type EpochMs, firstOfMonth, formatDay, startOfDay } from '#platform/time.ts'
import { isPrincipalId } from '../subjects.ts'
import {
  compareUsage,
  type DayRange,
  isKept,
  type UsageBatch,
  type UsageCount,
  type UsageEntry,
  type UsageStore,
  usageDaysKept,
  usagePrincipalsMax,
} from '../usage.ts'
import type { KeyNames } from './data-layout.ts'
import type { Connection } from './open-connection.ts'
import { loadScript, pairsOf } from './scripts.ts'

const addScript = loadScript('add-usage')
const admitScript = loadScript('admit-usage-principals')

/** How long a batch is remembered as added. */
const batchMs = 3_600_000
/** How many numbers of fields a pair of key and route takes (see add-usage.lua). */
const fieldsPerPair = 32
const separator = '\t'
/** How many pairs an account has in a month, in a few megabytes; further ones count as the key and route `*`. */
export const usagePairsMax = 10_000
/** How many fields are read at once, which takes Redis a tenth of a millisecond. */
const fieldsAtOnce = 500

/** A hash per account and month, which expires as a whole; losing the last second in a failover does not matter. */
export function createUsageStore({ keys, ask, run, confirmAbsence }: Connection): UsageStore {
  /** In steps, as Redis does nothing else while it reads a whole hash, which may be large. */
  async function readMonth(accountId: string, month: number): Promise<readonly UsageCount[]> {
    const key = usageKey(keys, accountId, month)
    const fields = new Map<string, string>()
    let cursor = '0'
    do {
      const [next, found] = await ask((client) => client.hscan(key, cursor, 'COUNT', fieldsAtOnce))
      for (const [field, value] of pairsOf(found)) fields.set(field, value)
      cursor = next
    } while (cursor !== '0')
    return parseMonth(fields, month)
  }

  return {
    addUsage: async ({ id, today, entries }) => {
      await confirmAbsence()
      const kept = entries.filter(({ day }) => isKept(day, today))
      await addCounts({ keys, run }, { id, entries: kept }, (accountId) => recordOf(keys, accountId))
    },
    admitUsagePrincipals: async (ids, today) => {
      await confirmAbsence()
      const args = [usagePrincipalsMax, today, today - usageDaysKept, ...ids]
      // The cast is sound: the script returns nothing else.
      return (await run(admitScript, [keys.usagePrincipals], args)) as string[]
    },
    listUsagePrincipals: async (cursor = '0') => {
      const [next, found] = await ask((client) =>
        client.zscan(keys.usagePrincipals, cursor, 'COUNT', fieldsAtOnce),
      )
      if (next === '0' && found.length === 0) await confirmAbsence()
      return { ids: pairsOf(found).map(([id]) => id), cursor: next === '0' ? undefined : next }
    },
    readUsage: async (accountId, days) => {
      const found: UsageCount[] = []
      for (const month of monthsIn(days)) {
        const counts = await readMonth(accountId, month)
        found.push(...counts.filter(({ day }) => day >= days.from && day <= days.to))
      }
      if (found.length === 0) await confirmAbsence()
      return found.toSorted(compareUsage)
    },
  }
}

/** Like `addUsage`. @param recordOf the key that has to exist for the counts of an account to be added */
export async function addCounts(
  { keys, run }: Pick<Connection, 'keys' | 'run'>,
  { id, entries }: Pick<UsageBatch, 'id' | 'entries'>,
  recordOf: (accountId: string) => string,
): Promise<void> {
  const byHash = Map.groupBy(entries, (entry) => usageKey(keys, entry.accountId, firstOfMonth(entry.day)))
  const hashes = [...byHash].map(([key, counts]) => ({ key, counts }))
  await run(
    addScript,
    [
      keys.usageBatch(id),
      keys.activeDays,
      ...hashes.flatMap(({ key, counts }) => [recordOf(counts[0]?.accountId ?? ''), key]),
    ],
    [
      batchMs,
      usagePairsMax,
      `*${separator}*`,
      ...hashes.flatMap(({ counts }, index) => counts.flatMap((count) => countArgs(index + 1, count))),
    ],
  )
}

/** The key that has to exist for usage to be counted; a principal of a foreign issuer has no record of its own. */
function recordOf(keys: KeyNames, id: string): string {
  return isPrincipalId(id) ? keys.usagePrincipals : keys.account(id)
}

function countArgs(
  hash: number,
  { accountId, day, key, route, requests, units }: UsageEntry,
): (string | number)[] {
  const lastDay = firstOfMonth(day, 1) - 1
  const expiresAt = startOfDay(lastDay + usageDaysKept + 1)
  const pair = key + separator + route
  const account = isPrincipalId(accountId) ? '' : accountId
  return [hash, expiresAt, pair, dayOfMonth(day), requests, units - requests, account, day]
}

/** @param month its first day */
function parseMonth(fields: ReadonlyMap<string, string>, month: number): readonly UsageCount[] {
  const pairs = new Map<number, readonly [key: string, route: string]>()
  for (const [field, value] of fields) {
    const [key = '', route = ''] = field.slice(1).split(separator)
    if (field.startsWith('=')) pairs.set(Number(value), [key, route])
  }
  return [...pairs].flatMap(([number, [key, route]]) =>
    daysOfMonth.flatMap((dayOfMonth) => {
      const field = number * fieldsPerPair + dayOfMonth
      const [counted, beyond] = [fields.get(`${field}`), fields.get(`-${field}`)]
      if (counted === undefined && beyond === undefined) return []
      const requests = Number(counted ?? 0)
      const units = requests + Number(beyond ?? 0)
      return [{ day: month + dayOfMonth - 1, key, route, requests, units }]
    }),
  )
}

const daysOfMonth = Array.from({ length: 31 }, (_, index) => index + 1)

/** The first days of the months of a range. */
export function monthsIn({ from, to }: DayRange): readonly number[] {
  const months: number[] = []
  for (let month = firstOfMonth(from); month <= to; month = firstOfMonth(month, 1)) months.push(month)
  return months
}

function usageKey(keys: KeyNames, accountId: string, month: number): string {
  return keys.usageOf(accountId, formatDay(month).slice(0, 7))
}

/** All keys that an account's usage may be under, as a clock may be ahead of ours. */
export function usageKeysOf(keys: KeyNames, accountId: string, now: EpochMs): readonly string[] {
  const today = dayOf(now)
  const days = { from: firstOfMonth(today - usageDaysKept, -1), to: firstOfMonth(today, 1) }
  return monthsIn(days).map((month) => usageKey(keys, accountId, month))
}
