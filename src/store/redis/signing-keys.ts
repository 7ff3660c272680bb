import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import { parseSigningKey, signingKeyText } from './records.ts'
import { loadScript } from './scripts.ts'

type SigningKeyVerbs = Pick<Store, 'listSigningKeys' | 'addSigningKey' | 'retireSigningKey'>

const addScript = loadScript('add-signing-key', { isChange: true })
const retireScript = loadScript('retire-signing-key', { isChange: true })

/** Signing keys as members of one hash. */
export function openSigningKeys({ keys, ask, change, tell, confirmAbsence }: Connection): SigningKeyVerbs {
  return {
    listSigningKeys: async () => {
      const texts = await ask((client) => client.hvals(keys.signingKeys))
      if (texts.length === 0) await confirmAbsence()
      return texts
        .map(parseSigningKey)
        .toSorted((a, b) => a.createdAt - b.createdAt || a.kid.localeCompare(b.kid))
    },
    addSigningKey: async (key, unless) => {
      const args = [key.kid, signingKeyText(key), unless === 'signer' ? key.algorithm : '']
      await confirmAbsence()
      const position = await change(addScript, [keys.signingKeys], args)
      tell({ kind: 'signing-keys' }, position)
      return position !== 0
    },
    retireSigningKey: async (kid) => {
      const position = await change(retireScript, [keys.signingKeys], [kid])
      if (position === 0) await confirmAbsence()
      tell({ kind: 'signing-keys' }, position)
      return position !== 0
    },
  }
}
