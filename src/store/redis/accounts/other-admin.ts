import { type Account, isActiveAdmin } from '../../account.ts'
import type { AuditEntry } from '../../audit-entry.ts'
import type { Connection } from '../connection.ts'
import { listNewest, type TimedMember } from '../newest.ts'

/** How many accounts are read at once. */
const batchSize = 200

/**
 * Finds another Admin who is not disabled, for a script that takes one away. Both are keys of that script, which checks
 * in its one step that the other one still is an Admin: of two who take each other's role away only one succeeds. So
 * there is nothing to keep in step with the accounts, and nothing that a process killed in between could leave behind.
 * @returns its ID; undefined = there is none
 */
export function createAdminFinder(
  connection: Pick<Connection, 'keys' | 'run' | 'confirmAbsence'>,
  find: (id: string) => Promise<Account | undefined>,
) {
  /** @param audit who acts is most often one: then nothing has to be searched */
  return async function findOtherAdmin(id: string, audit?: AuditEntry): Promise<string | undefined> {
    const isOther = (account: Account | undefined) =>
      account !== undefined && account.id !== id && isActiveAdmin(account)
    const actorId = audit?.actor.kind === 'account' ? audit.actor.id : undefined
    if (actorId !== undefined && isOther(await find(actorId))) return actorId
    for (let after: TimedMember | undefined; ; ) {
      const listed = await listNewest(connection, connection.keys.ids, { after, limit: batchSize })
      const found = (await Promise.all(listed.map(({ member }) => find(member)))).find(isOther)
      if (found || listed.length < batchSize) return found?.id
      after = listed.at(-1)
    }
  }
}
