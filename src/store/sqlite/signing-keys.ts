import { signingKeysChange } from '../changes.ts'
import type { SigningKeyStore } from '../signing-keys.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import type { Writer } from './writer.ts'

export function openSigningKeys(
  { read }: Database,
  { writeChange }: Writer,
  { signingKeys }: Pick<Tables, 'signingKeys'>,
): SigningKeyStore {
  return {
    listSigningKeys: async () => read(() => signingKeys.list()),
    addSigningKey: (key, unless, audit) =>
      writeChange(() => signingKeys.add(key, unless), signingKeysChange, audit),
    resealSigningKey: (kid, reseal, audit) =>
      writeChange(() => signingKeys.reseal(kid, reseal), signingKeysChange, audit),
    retireSigningKey: (kid, audit) => writeChange(() => signingKeys.remove(kid), signingKeysChange, audit),
  }
}
