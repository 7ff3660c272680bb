import type { AuditEntry } from '../audit-entry.ts'
import type { SigningKeyStore } from '../signing-keys.ts'
import { createAudited } from './audited.ts'
import type { Connection } from './connection.ts'
import { compareTexts, parseSigningKey, signingKeyText } from './records.ts'
import { loadScript, type Script } from './scripts.ts'
import { storeFormat } from './store-format.ts'

const addScript = loadScript('add-signing-key', { isLogged: true, isAudited: true })
const resealScript = loadScript('reseal-signing-key', { isLogged: true, isAudited: true })
const retireScript = loadScript('retire-signing-key', { isLogged: true, isAudited: true })

interface KeyWrite {
  readonly script: Script
  /** Its keys besides the signing keys. */
  readonly extraKeys?: readonly string[]
}

/** Signing keys as members of one hash. */
export function openSigningKeys(connection: Connection): SigningKeyStore {
  const { keys, ask, notify, confirmAbsence } = connection
  const runAudited = createAudited(connection)

  /** 0 = nothing has changed. */
  async function runChange(
    { script, extraKeys = [] }: KeyWrite,
    args: readonly (string | number)[],
    audit?: AuditEntry,
  ) {
    return Number(await runAudited(script, [keys.signingKeys, ...extraKeys], args, audit))
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
      const position = await runChange({ script: addScript, extraKeys: [keys.format] }, args, audit)
      notify({ kind: 'signing-keys' }, position)
      return position !== 0
    },
    resealSigningKey: async (kid, { before, after }, audit) => {
      const args = [kid, base64url(before), base64url(after)]
      const position = await runChange({ script: resealScript }, args, audit)
      if (position === 0) await confirmAbsence()
      notify({ kind: 'signing-keys' }, position)
      return position !== 0
    },
    retireSigningKey: async (kid, audit) => {
      const position = await runChange({ script: retireScript }, [kid], audit)
      if (position === 0) await confirmAbsence()
      notify({ kind: 'signing-keys' }, position)
      return position !== 0
    },
  }
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
