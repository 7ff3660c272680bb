import { randomBytes, randomUUID } from 'node:crypto'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { BackupStore, RecordKind, Restoration } from '../../backup/records.ts'
import { changesMax } from '../../changes.ts'
import { storeUnavailable } from '../../store-health.ts'
import type { Connection } from '../open-connection.ts'
import { forgetSessions } from '../open-session-index.ts'
import { loadScript } from '../scripts.ts'
import { storeFormat } from '../store-identity.ts'
import { usageKeysOf } from '../usage.ts'
import { type Command, createRecordWriter } from './write.ts'

const beginScript = loadScript('begin-restore')
const continueScript = loadScript('continue-restore')
const finishScript = loadScript('finish-restore', { isLogged: true })

/** After this time without a write another process may take over, as a batch takes milliseconds. */
const deadAfterMs = 10_000
const removalBatchSize = 100

/** Writes the records, and the ID of the store last: without it gateways do not use the data. */
export function createRestore(connection: Connection): BackupStore['restore'] {
  const { keys, ask, run } = connection
  /** The keys that only a non-empty store has. */
  const lasting: Readonly<Record<string, RecordKind>> = {
    [keys.ids]: 'account',
    [keys.emails]: 'account',
    [keys.signingKeys]: 'signingKey',
    [keys.blockedSubjects]: 'blockedSubject',
    [keys.usagePrincipals]: 'usagePrincipal',
    [keys.audit]: 'audit',
    [keys.ownAudit]: 'audit',
    [keys.head]: 'store',
  }

  return async function restore(batches): Promise<Restoration> {
    const writer = randomUUID()
    const names = [keys.storeId, ...Object.keys(lasting)]
    const begun = await run(beginScript, [keys.restore, ...names], [writer, deadAfterMs])
    if (begun === 'busy') return { kind: 'busy' }
    if (typeof begun === 'number') return { kind: 'used', by: lasting[names[begun - 2] ?? ''] ?? 'store' }
    const records = createRecordWriter(connection, runAll)
    try {
      if (begun === 'resumed') await clear(writer)
      for await (const batch of batches) {
        await assertOwn(writer)
        await records.write(batch)
      }
    } catch (error) {
      // If this fails too, nothing uses what is left, and the next restore removes it.
      await undo(writer).catch(() => {})
      throw error
    }
    await finish(writer, records.store)
    return { kind: 'restored' }
  }

  async function finish(writer: string, { id, head }: { readonly id: string; readonly head: number }) {
    const position = await connection.runDurably(
      finishScript,
      [keys.restore, keys.format, keys.eventReceivers],
      [writer, id === '' ? randomBytes(16).toString('hex') : id, head + changesMax, storeFormat],
    )
    if (position === 0) throw takenError()
    connection.notify({ kind: 'signing-keys' }, position)
  }

  /** Commands on keys of one slot. */
  async function runAll(commands: readonly Command[]): Promise<readonly unknown[]> {
    return ask(async (client) => {
      const replies = await client.pipeline(commands.map((command) => [...command])).exec()
      return (replies ?? []).map(([error, reply]) => {
        if (error) throw error
        return reply
      })
    })
  }

  async function assertOwn(writer: string): Promise<void> {
    if ((await run(continueScript, [keys.restore], [writer])) !== 1) throw takenError()
  }

  async function undo(writer: string): Promise<void> {
    await clear(writer)
    await ask((client) => client.del(keys.restore))
  }

  /**
   * Removes everything that was restored; what expires by itself, and can only be found through an account, may stay.
   */
  async function clear(writer: string): Promise<void> {
    for (const set of [keys.ids, keys.usagePrincipals]) {
      for (;;) {
        await assertOwn(writer)
        const ids = await ask((client) => client.zrange(set, '0', String(removalBatchSize - 1)))
        if (ids.length === 0) break
        await Promise.all(ids.map((id) => forgetSessions(connection, id)))
        await runAll([
          ['unlink', ...ids.flatMap(ownedBy)],
          ['zrem', set, ...ids],
        ])
      }
    }
    const { emails, identities, importedKeys, terms, activeDays, signingKeys, blockedSubjects } = keys
    const { audit, ownAudit, auditChains, log, head } = keys
    await runAll([
      ['unlink', emails, identities, importedKeys, terms, activeDays, signingKeys, blockedSubjects],
      ['unlink', audit, ownAudit, auditChains, log, head],
    ])
  }

  function ownedBy(id: string): readonly string[] {
    const own = [keys.account(id), keys.portalSessionsOf(id), keys.keyUsesOf(id)]
    return [...own, ...usageKeysOf(keys, id, Date.now())]
  }
}

function takenError(): GatehouseError {
  const message = 'another process has written to this Redis since the restore began: nothing was restored'
  return storeUnavailable('lost', message)
}
