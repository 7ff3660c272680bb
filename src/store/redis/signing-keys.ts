import { base64url, compareTexts } from '#platform/text.ts'
import type { SigningKeyStore } from '../signing-keys.ts'
import { parseSigningKey, signingKeyText } from './data-layout.ts'
import type { Connection } from './open-connection.ts'
import { loadScript } from './scripts.ts'
import { storeFormat } from './store-identity.ts'

const addScript = loadScript('add-signing-key', { isLogged: true, isAudited: true })
const resealScript = loadScript('reseal-signing-key', { isLogged: true, isAudited: true })
const retireScript = loadScript('retire-signing-key', { isLogged: true, isAudited: true })

const change = { kind: 'signing-keys' } as const

/** Signing keys as members of one hash. */
export function createSigningKeyStore(connection: Connection): SigningKeyStore {
  const { keys, ask, runAudited, settle, notify, confirmAbsence } = connection

  return {
    listSigningKeys: async () => {
      const texts = await ask((client) => client.hvals(keys.signingKeys))
      if (texts.length === 0) await confirmAbsence()
      return texts
        .map(parseSigningKey)
        .toSorted((a, b) => a.createdAt - b.createdAt || compareTexts(a.kid, b.kid))
    },
    addSigningKey: async (key, { onlyIfNoSigner = false, audit } = {}) => {
      const args = [key.kid, signingKeyText(key), onlyIfNoSigner ? key.algorithm : '', storeFormat]
      await confirmAbsence()
      const position = await runAudited(addScript, [keys.signingKeys, keys.format], args, audit)
      notify(change, position)
      return position !== 0
    },
    resealSigningKey: (kid, { before, after }, audit) => {
      const args = [kid, base64url(before), base64url(after)]
      return settle(change, runAudited(resealScript, [keys.signingKeys], args, audit))
    },
    retireSigningKey: (kid, audit) =>
      settle(change, runAudited(retireScript, [keys.signingKeys], [kid], audit)),
  }
}
