import type { SubjectStore } from '../subjects.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'
import { storeFormat } from './store-identity.ts'

const blockScript = loadScript('block-subject', { isLogged: true, isAudited: true })
const unblockScript = loadScript('unblock-subject', { isLogged: true, isAudited: true })

/** Blocked principals as members of one sorted set, whose scores are the times. */
export function createSubjectStore(connection: Connection): SubjectStore {
  const { keys, ask, runAudited, settle, listByTime, notify, confirmAbsence } = connection

  return {
    findBlockedSubject: async (principalId) => {
      const at = await ask((client) => client.zscore(keys.blockedSubjects, principalId))
      // An absent subject is admitted, so it must not be absent because the data was lost.
      return at === null ? confirmAbsence() : { principalId, blockedAt: Number(at) }
    },
    blockSubject: async ({ principalId, blockedAt }, audit) => {
      await confirmAbsence()
      const args = [principalId, blockedAt, storeFormat]
      const position = await runAudited(blockScript, [keys.blockedSubjects, keys.format], args, audit)
      notify({ kind: 'subject', principalId }, position)
      return position !== 0
    },
    unblockSubject: (principalId, audit) =>
      settle(
        { kind: 'subject', principalId },
        runAudited(unblockScript, [keys.blockedSubjects], [principalId], audit),
      ),
    listBlockedSubjects: async ({ after, limit }) => {
      const found = await listByTime(keys.blockedSubjects, {
        after: after && { member: after.principalId, at: after.blockedAt },
        limit,
      })
      return found.map(({ member, at }) => ({ principalId: member, blockedAt: at }))
    },
  }
}
