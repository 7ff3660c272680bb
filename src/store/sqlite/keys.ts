import { keysByReplacing, type Replace } from '../account-changes/by-replacing.ts'
import type { KeyStore } from '../keys.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'

export function openKeys(
  { read, write }: Database,
  { keyUses }: Pick<Tables, 'keyUses'>,
  replace: Replace,
): KeyStore {
  return {
    ...keysByReplacing(replace),
    recordKeyUses: async (uses) => {
      if (uses.length > 0) await write(() => uses.forEach(keyUses.record))
    },
    findKeyUses: async (accountId) => read(() => keyUses.find(accountId)),
  }
}
