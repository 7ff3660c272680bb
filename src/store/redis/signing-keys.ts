import type { AuditEntry } from '../audit.ts'
import { compareTexts } from '../compare-texts.ts'
import type { Store } from '../store.ts'
import { createAudited } from './audited.ts'
import type { Connection } from './connection.ts'
import { parseSigningKey, signingKeyText } from './records.ts'
import { loadScript, type Script } from './scripts.ts'
import { storeFormat } from './store-format.ts'

type SigningKeyVerbs = Pick<Store, 'listSigningKeys' | 'addSigningKey' | 'retireSigningKey'>

const addScript = loadScript('add-signing-key', { isLogged: true, isAudited: true })
const retireScript = loadScript('retire-signing-key', { isLogged: true, isAudited: true })

interface Change {
  readonly script: Script
  /** Its keys beside the signing keys. */
  readonly more?: readonly string[]
}

/** Signing keys as members of one hash. */
export function openSigningKeys(connection: Connection): SigningKeyVerbs {
  const { keys, ask, tell, confirmAbsence } = connection
  const audited = createAudited(connection)

  /** 0 = nothing has changed. */
  async function change(
    { script, more = [] }: Change,
    args: readonly (string | number)[],
    audit?: AuditEntry,
  ) {
    return Number(await audited(script, [keys.signingKeys, ...more], args, audit))
  }

  return {
    listSigningKeys: async () => {
      const texts = await ask((client) => client.hvals(keys.signingKeys))
      if (texts.length === 0) await confirmAbsence()
      return texts
        .map(parseSigningKey)
        .toSorted((a, b) => a.createdAt - b.createdAt || compareTexts(a.kid, b.kid))
    },
    addSigningKey: async (key, unless, audit) => {
      const args = [key.kid, signingKeyText(key), unless === 'signer' ? key.algorithm : '', storeFormat]
      await confirmAbsence()
      const position = await change({ script: addScript, more: [keys.format] }, args, audit)
      tell({ kind: 'signing-keys' }, position)
      return position !== 0
    },
    retireSigningKey: async (kid, audit) => {
      const position = await change({ script: retireScript }, [kid], audit)
      if (position === 0) await confirmAbsence()
      tell({ kind: 'signing-keys' }, position)
      return position !== 0
    },
  }
}
