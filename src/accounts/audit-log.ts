import { setImmediate } from 'node:timers/promises'
import type { Clock } from '#platform/time.ts'
import type { AuditPage, AuditStore, FoundAudit } from '#store/audit.ts'
import type {
  Actor,
  AuditAction,
  AuditEntry,
  AuditFilter,
  AuditTarget,
  LoggedAuditEntry,
} from '#store/audit-entry.ts'
import type { Visitor } from '#store/sessions.ts'
import { csvLine, exportLine } from './csv.ts'

/** Creates the audit entries of one actor. */
export type AuditEntryFactory = (
  action: AuditAction,
  target: AuditTarget | undefined,
  details?: AuditEntry['details'],
) => AuditEntry

export function createAuditEntryFactory(actor: Actor, clock: Clock): AuditEntryFactory {
  return (action, target, details = {}) => ({
    at: clock(),
    actor,
    action,
    target: target && { id: target.id, email: target.email },
    details,
  })
}

/** An account that is signed in to the portal, as the audit log names it. */
export function actorOf(
  { account: { id, email } }: { readonly account: AuditTarget },
  { address }: Visitor,
): Actor {
  return { kind: 'account', channel: 'portal', id, email, address }
}

interface OwnAction {
  readonly account: AuditTarget
  readonly action: AuditAction
  readonly details?: AuditEntry['details']
}

/** The audit entry of what a visitor does to their own account. */
export function ownAuditEntry(
  { account, action, details }: OwnAction,
  visitor: Visitor,
  clock: Clock,
): AuditEntry {
  return createAuditEntryFactory(actorOf({ account }, visitor), clock)(action, account, details)
}

export interface AuditLog {
  /** The newest entries that match a filter, starting before a position, however far back they are. */
  find(page: AuditPage): Promise<FoundAudit>
  /**
   * All entries that match a filter, newest first, in chunks of text: JSON lines, or CSV (RFC 4180) with a header, in
   * which cells that a spreadsheet would run as a formula (CSV injection) get an apostrophe.
   */
  export(format: AuditFormat, filter: AuditFilter): AsyncGenerator<string>
}

type AuditFormat = keyof typeof auditFiles

/** An export as a file, by its format. */
export const auditFiles = {
  csv: { name: 'audit.csv', type: 'text/csv; charset=utf-8' },
  jsonl: { name: 'audit.jsonl', type: 'application/jsonl; charset=utf-8' },
} as const

/** How many entries are read at once for an export. */
const chunkEntries = 500

const columns = [
  'at',
  'channel',
  'actor',
  'actorId',
  'address',
  'action',
  'target',
  'targetId',
  'details',
] as const

export function createAuditLog(store: Pick<AuditStore, 'findAudit'>): AuditLog {
  const find: AuditLog['find'] = async ({ filter, before, limit }) => {
    const entries: LoggedAuditEntry[] = []
    // One more than wanted, so that a next page is announced only if it is not empty.
    for (let position = before; entries.length <= limit; ) {
      const found = await store.findAudit({ filter, before: position, limit: limit + 1 - entries.length })
      entries.push(...found.entries)
      if (found.before === undefined) break
      position = found.before
      // Yields to other requests.
      await setImmediate()
    }
    const shown = entries.slice(0, limit)
    return { entries: shown, before: entries.length > limit ? shown.at(-1)?.position : undefined }
  }

  async function* exportAll(format: AuditFormat, filter: AuditFilter): AsyncGenerator<string> {
    if (format === 'csv') yield csvLine(columns)
    const lineOf = exportLine(format, columns)
    for (let before: string | undefined; ; ) {
      const found = await find({ filter, before, limit: chunkEntries })
      yield found.entries.map((entry) => lineOf(auditData(entry))).join('')
      if (found.before === undefined) return
      before = found.before
    }
  }

  return { find, export: exportAll }
}

/** An entry as the admin API, the exports and the log show it. */
export function auditData<Action extends string>(
  entry: Omit<AuditEntry, 'action'> & { readonly action: Action },
) {
  const { at, actor, action, target, details } = entry
  return {
    at: new Date(at).toISOString(),
    channel: actor.channel,
    actor: actorName(actor),
    actorId: actor.kind === 'account' ? actor.id : null,
    address: actor.kind === 'account' || actor.kind === 'holder' ? actor.address : null,
    action,
    target: target?.email ?? null,
    targetId: target?.id ?? null,
    details,
  }
}

function actorName(actor: Actor): string {
  switch (actor.kind) {
    case 'account':
      return actor.email
    case 'operator':
      return actor.name
    case 'holder':
      return 'key holder'
    default:
      return 'gatehouse'
  }
}
