import { subjectChange } from '../changes.ts'
import type { BlockedSubject, SubjectStore } from '../subjects.ts'
import { createAudited } from './audited.ts'
import type { Connection } from './connection.ts'
import { listNewest, type TimedMember } from './newest.ts'
import { loadScript } from './scripts.ts'
import { storeFormat } from './store-format.ts'

const blockScript = loadScript('block-subject', { isLogged: true, isAudited: true })
const unblockScript = loadScript('unblock-subject', { isLogged: true, isAudited: true })

/** Blocked principals as members of one sorted set, whose scores are the times. */
export function openSubjects(connection: Connection): SubjectStore {
  const { keys, ask, notify, confirmAbsence } = connection
  const runAudited = createAudited(connection)

  /** @param position of the change in the log; 0 = nothing has changed */
  function settle(principalId: string, position: unknown): boolean {
    const change = subjectChange(principalId)(position !== 0)
    if (change) notify(change, position)
    return change !== undefined
  }

  return {
    findBlockedSubject: async (principalId) => {
      const at = await ask((client) => client.zscore(keys.blockedSubjects, principalId))
      // What is absent may pass: it must not be absent because the data was lost.
      return at === null ? confirmAbsence() : { principalId, blockedAt: Number(at) }
    },
    blockSubject: async ({ principalId, blockedAt }, audit) => {
      await confirmAbsence()
      const blockKeys = [keys.blockedSubjects, keys.format]
      return settle(
        principalId,
        await runAudited(blockScript, blockKeys, [principalId, blockedAt, storeFormat], audit),
      )
    },
    unblockSubject: async (principalId, audit) => {
      const position = await runAudited(unblockScript, [keys.blockedSubjects], [principalId], audit)
      if (position === 0) await confirmAbsence()
      return settle(principalId, position)
    },
    listBlockedSubjects: async ({ after, limit }) => {
      const found = await listNewest(connection, keys.blockedSubjects, {
        after: after && toMember(after),
        limit,
      })
      return found.map(({ member, at }) => ({ principalId: member, blockedAt: at }))
    },
  }
}

function toMember({ principalId, blockedAt }: BlockedSubject): TimedMember {
  return { member: principalId, at: blockedAt }
}
