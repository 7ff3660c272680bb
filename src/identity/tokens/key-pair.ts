import { isWithin } from '#platform/addresses.ts'
import type { Clock } from '#platform/clock.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { isForeignKey } from '#platform/secrets/format.ts'
import { digestOf, findKey, isApiKeyOf, parseKey } from '#platform/secrets/keys.ts'
import type { Account } from '#store/account.ts'
import type { AccountReader } from '#store/accounts.ts'
import { keyState, type SecretKey } from '#store/secret-keys.ts'
import type { Visitor } from '#store/sessions.ts'

/** Both keys of an account, as they came. */
export interface KeyPair {
  readonly secretKey: string
  readonly apiKey: string
}

/** Whose a pair is. */
export interface KeyPairOwner {
  readonly account: Account
  readonly key: SecretKey
}

/**
 * The owner of both keys. Reads the store, not a cache: a pair that was reset must not start a session.
 * @throws GatehouseError `credentials-invalid` (the same, in the same time, for every wrong pair); for a right one
 *   `secret-key-expired`, `account-disabled`, `address-forbidden`
 */
export type FindKeyPairOwner = (pair: KeyPair, visitor: Pick<Visitor, 'address'>) => Promise<KeyPairOwner>

export function createKeyPairCheck(
  store: Pick<AccountReader, 'findAccount'>,
  clock: Clock,
): FindKeyPairOwner {
  return async function findOwner(pair, { address }) {
    const digest = secretKeyDigest(pair.secretKey)
    const apiKey = parseKey('apiKey', pair.apiKey)
    if (!digest || !apiKey) throw new GatehouseError('credentials-invalid')
    // By the API key, as a secret key that was made elsewhere does not name its account.
    const account = await store.findAccount(apiKey.accountId)
    // Both are always compared: timing must not reveal which of them is wrong.
    const key = findKey(account?.secretKeys ?? [], digest)
    const isApiKey = isApiKeyOf(account, apiKey.digest)
    const state = key ? keyState(key, clock()) : 'revoked'
    if (!account || !key || !isApiKey || state === 'revoked') throw new GatehouseError('credentials-invalid')
    if (state === 'expired') throw new GatehouseError('secret-key-expired')
    if (account.isDisabled) throw new GatehouseError('account-disabled')
    if (key.addresses.length > 0 && !isWithin(key.addresses, address))
      throw new GatehouseError('address-forbidden')
    return { account, key }
  }
}

/** undefined where the text can be no secret key, neither one of ours nor one that was made elsewhere. */
function secretKeyDigest(text: string): Uint8Array | undefined {
  return parseKey('secretKey', text)?.digest ?? (isForeignKey(text) ? digestOf(text) : undefined)
}
