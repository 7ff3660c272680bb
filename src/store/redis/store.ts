import { ofSigningKeys, parseChange } from '../changes.ts'
import type { Change, ChangeReading, Store } from '../store.ts'
import { openAccounts } from './accounts.ts'
import type { RedisOptions } from './client.ts'
import { openConnection } from './connection.ts'
import { parseSigningKey, signingKeyText } from './records.ts'
import { loadScript } from './scripts.ts'
import { openSessions } from './sessions.ts'

const addKeyScript = loadScript('add-signing-key', { isChange: true })
const retireKeyScript = loadScript('retire-signing-key', { isChange: true })
const readChangesScript = loadScript('read-changes', { isChange: false })

/** The store of many instances: Redis 7 or newer, alone, behind Sentinel, or a Cluster. Connects by itself. */
export function openRedisStore(options: RedisOptions): Store {
  const connection = openConnection(options)
  const { keys, ask, run, runChange, tell } = connection

  async function readChanges(after: number | undefined): Promise<ChangeReading> {
    const [head, entries] = parsePicture(await run(readChangesScript, [keys.log, keys.head], [after ?? '']))
    if (after === undefined || after === head) return { head, changes: [] }
    // A lower head means a failover or a flush, a missing entry that the log was cut: nothing can be told.
    if (after > head || entries.length !== head - after) return { head, changes: undefined }
    return { head, changes: entries.flatMap(parseEntry) }
  }

  return {
    ready: connection.ready,
    ...openAccounts(connection),
    ...openSessions(connection),
    listSigningKeys: async () => {
      const texts = await ask((client) => client.hvals(keys.signingKeys))
      return texts
        .map(parseSigningKey)
        .toSorted((a, b) => a.createdAt - b.createdAt || a.kid.localeCompare(b.kid))
    },
    addSigningKey: async (key, unless) => {
      const args = [key.kid, signingKeyText(key), unless === 'signer' ? key.algorithm : '']
      const isAdded = (await runChange(addKeyScript, [keys.signingKeys], args)) === 1
      tell(ofSigningKeys(isAdded))
      return isAdded
    },
    retireSigningKey: async (kid) => {
      const isRetired = (await runChange(retireKeyScript, [keys.signingKeys], [kid])) === 1
      tell(ofSigningKeys(isRetired))
      return isRetired
    },
    readChanges,
    onChange: connection.onChange,
    close: connection.close,
  }
}

function parsePicture(reply: unknown): readonly [number, readonly unknown[]] {
  const [head, entries] = Array.isArray(reply) ? reply : []
  return [Number(head ?? 0), Array.isArray(entries) ? entries : []]
}

/** A stream entry: its ID, and its fields as name, value, name, value. */
function parseEntry(entry: unknown): Change[] {
  const fields: unknown = Array.isArray(entry) ? entry[1] : undefined
  const [, kind, , subject] = Array.isArray(fields) ? fields : []
  const change = parseChange(String(kind), String(subject))
  return change ? [change] : []
}
