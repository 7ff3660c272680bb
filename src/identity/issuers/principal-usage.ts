import { isPrincipalId } from '#store/subjects.ts'
import { type UsageBatch, type UsageStore, usagePrincipalsMax } from '#store/usage.ts'

/**
 * Writes usage, also of principals of foreign issuers, of which there may be any number: those that are one too many
 * for the store are counted together, under the name of their issuer and a colon. No principal has that ID, as no
 * subject is empty.
 */
export function withPrincipals(
  store: Pick<UsageStore, 'addUsage' | 'admitUsagePrincipals'>,
): Pick<UsageStore, 'addUsage'> {
  /** Those that the store has admitted on the day. */
  let admitted = new Set<string>()
  let day = 0

  async function admit(ids: readonly string[], today: number): Promise<ReadonlySet<string>> {
    if (day !== today || admitted.size + ids.length > usagePrincipalsMax) admitted = new Set()
    day = today
    const asked = [...new Set([...ids.map(othersOf), ...ids])].filter((id) => !admitted.has(id))
    const refused = new Set(asked.length === 0 ? [] : await store.admitUsagePrincipals(asked, today))
    for (const id of asked) if (!refused.has(id)) admitted.add(id)
    return refused
  }

  async function addUsage(batch: UsageBatch): Promise<void> {
    const ids = batch.entries.map(({ accountId }) => accountId).filter(isPrincipalId)
    const refused = ids.length === 0 ? noIds : await admit(ids, batch.today)
    const entries = batch.entries.map((entry) =>
      refused.has(entry.accountId) ? { ...entry, accountId: othersOf(entry.accountId) } : entry,
    )
    return store.addUsage(refused.size === 0 ? batch : { ...batch, entries })
  }

  return { addUsage }
}

const noIds: ReadonlySet<string> = new Set()

/** All other principals of the same issuer. */
function othersOf(id: string): string {
  return id.slice(0, id.indexOf(':') + 1)
}
