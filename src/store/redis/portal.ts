import { dayOf } from '#platform/time.ts'
import { portalByReplacing } from '../account-changes/by-replacing.ts'
import { type PortalSession, type PortalStore, portalSessionsMax } from '../portal.ts'
import { identityKeyOf } from '../portal-access.ts'
import type { AccountAccess } from './accounts.ts'
import { newestFirst } from './data-layout.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'

const startScript = loadScript('start-portal-session', { isAudited: true })
const endScript = loadScript('end-portal-session', { isAudited: true })
const touchScript = loadScript('touch-portal-session')

/**
 * Passwords and links are stored with their account; portal sessions in a hash per account, which expires with the last
 * of them.
 */
export function createPortalStore(
  connection: Connection,
  { findAccount, replace }: AccountAccess,
): PortalStore {
  const { keys, ask, run, runAudited, confirmAbsence } = connection

  async function find(accountId: string, id: string): Promise<PortalSession | undefined> {
    const text = await ask((client) => client.hget(keys.portalSessionsOf(accountId), id))
    return text === null ? confirmAbsence() : parsePortalSession(text)
  }

  return {
    ...portalByReplacing(replace),
    findAccountByIdentity: async (identity) => {
      const id = await ask((client) => client.hget(keys.identities, identityKeyOf(identity)))
      return id === null ? confirmAbsence() : findAccount(id)
    },
    findPortalSession: find,
    startPortalSession: async (session, { revision }, audit) => {
      const { id, accountId, createdAt, expiresAt } = session
      const started = await runAudited(
        startScript,
        [keys.account(accountId), keys.portalSessionsOf(accountId), keys.activeDays],
        [
          revision,
          id,
          createdAt,
          expiresAt,
          portalSessionsMax,
          portalSessionText({ ...session, seenAt: createdAt }),
          accountId,
          dayOf(createdAt),
        ],
        audit,
      )
      if (started === 1) return 'started'
      await confirmAbsence()
      return 'account-changed'
    },
    touchPortalSession: async (accountId, id, { at: seenAt, address, userAgent }) => {
      const session = await find(accountId, id)
      if (!session) return
      const { epoch, ...seen } = { ...session, seenAt, address, userAgent }
      const text = `${epoch} ${seen.createdAt} ${seen.expiresAt} ${portalSessionText(seen)}`
      const scriptKeys = [keys.portalSessionsOf(accountId), keys.activeDays]
      await run(touchScript, scriptKeys, [id, text, accountId, dayOf(seenAt)])
    },
    listPortalSessions: async (accountId, now) => {
      const account = await findAccount(accountId)
      if (!account || account.isDisabled) return []
      const texts = await ask((client) => client.hvals(keys.portalSessionsOf(accountId)))
      return texts
        .map(parsePortalSession)
        .filter(({ expiresAt, epoch }) => expiresAt > now && epoch === account.portal.epoch)
        .toSorted(newestFirst)
    },
    endPortalSession: async (accountId, id, audit) => {
      const ended = await runAudited(endScript, [keys.portalSessionsOf(accountId)], [id], audit)
      if (ended === 0) await confirmAbsence()
      return ended === 1
    },
  }
}

type WithoutEpoch = Omit<PortalSession, 'epoch'>

/** The JSON form, in which the User-Agent has been `client` since the first version. */
interface PortalSessionRecord extends Omit<WithoutEpoch, 'userAgent'> {
  readonly client: string
}

export function portalSessionText({ userAgent, ...session }: WithoutEpoch): string {
  return JSON.stringify({ ...session, client: userAgent } satisfies PortalSessionRecord)
}

/** `epoch start end JSON`, as the scripts write it, which only read the first three. */
export function parsePortalSession(text: string): PortalSession {
  const json = text.slice(text.indexOf('{'))
  // The text was written only by the code above.
  const { client, ...session } = JSON.parse(json) as PortalSessionRecord
  return { ...session, userAgent: client, epoch: Number.parseInt(text, 10) }
}
