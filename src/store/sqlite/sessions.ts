import { setImmediate } from 'node:timers/promises'
import { type Replace, sessionsByReplacing } from '../account-changes/by-replacing.ts'
import { sessionChange } from '../changes.ts'
import type { SessionStore } from '../sessions.ts'
import type { Database } from './database.ts'
import { sessionBatchMax } from './tables/sessions.ts'
import type { Tables } from './tables/tables.ts'
import type { Writer } from './writer.ts'

interface Options {
  readonly writer: Writer
  readonly tables: Pick<Tables, 'accounts' | 'sessions'>
  readonly replace: Replace
}

export function openSessions(
  { read, write }: Database,
  { writer: { writeChange, writeChanges }, tables: { accounts, sessions }, replace }: Options,
): SessionStore {
  return {
    startSession: async (started, { revision }) => {
      const { accountId, createdAt, openMax } = started
      for (;;) {
        const { outcome } = await writeChanges(
          () => {
            const owner = accounts.find(accountId)
            if (!owner || owner.isDisabled || owner.revision !== revision) {
              return { outcome: 'account-changed' as const, ended: [] }
            }
            const ended = sessions.endOldest(owner, createdAt, openMax - 1)
            if (ended.length === sessionBatchMax) return { outcome: 'too-many' as const, ended }
            sessions.start(started, owner.sessionEpoch)
            return { outcome: 'started' as const, ended }
          },
          ({ ended }) => ended.map((sessionId) => ({ kind: 'session', sessionId })),
        )
        if (outcome !== 'too-many') return outcome
        await setImmediate()
      }
    },
    rotateSession: (use) =>
      writeChange(
        () => sessions.rotate(use, accounts.find),
        (rotation) => sessionChange(use.sessionId)(rotation.kind === 'over' && rotation.reason === 'reused'),
      ),
    acknowledgeRotations: (acknowledgements) => write(() => sessions.acknowledge(acknowledgements)),
    findSession: async (id) => read(() => sessions.find(id)),
    listSessions: async (accountId, page) =>
      read(() => {
        const owner = accounts.find(accountId)
        return owner ? sessions.list(owner, page) : []
      }),
    listSessionPositions: async (accountId, page) =>
      read(() => {
        const owner = accounts.find(accountId)
        return owner ? sessions.listPositions(owner, page) : []
      }),
    endSession: (id, reason, audit) => writeChange(() => sessions.end(id, reason), sessionChange(id), audit),
    ...sessionsByReplacing(replace),
  }
}
