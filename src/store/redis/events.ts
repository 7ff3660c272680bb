import type { EventStore } from '../events.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const replaceScript = loadScript('replace-receiver')
const readScript = loadScript('read-audit')
const onceScript = loadScript('append-audit-once', { isAudited: true })

/** Receivers are fields of one hash; the IDs of what is told once are keys that expire. */
export function createEventStore({ keys, ask, run, runAudited, confirmAbsence }: Connection): EventStore {
  return {
    readReceivers: async () => {
      const fields = await ask((client) => client.hgetall(keys.eventReceivers))
      if (Object.keys(fields).length === 0) await confirmAbsence()
      return new Map(Object.entries(fields))
    },
    replaceReceiver: async ({ id, before, after }) => {
      if (before === '') await confirmAbsence()
      return (await run(replaceScript, [keys.eventReceivers], [id, before, after])) === 1
    },
    readAuditAfter: async ({ after, limit }) => {
      const start = after === '' ? '-' : `(${after}`
      // The cast is sound: the script returns nothing else.
      const [, found] = (await run(
        readScript,
        [keys.audit, keys.ownAudit],
        ['oldest', start, limit, limit, '', ''],
      )) as [string, [string, string[]][]]
      if (found.length === 0) await confirmAbsence()
      return found.map(([position, [, text = '']]) => ({ position, text }))
    },
    appendAuditOnce: async ({ id, keptUntil, entry }) => {
      await confirmAbsence()
      return (await runAudited(onceScript, [keys.auditOnce(id)], [keptUntil], entry)) === 1
    },
  }
}
