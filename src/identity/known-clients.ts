import { createHmac } from 'node:crypto'
import { isSameText } from '#platform/secrets/constant-time.ts'
import { randomText } from '#platform/secrets/format.ts'
import { type KeySource, keysOf } from '#platform/secrets/sealing.ts'

/**
 * Recognises browsers that have signed in to an account before, by a signed token in a cookie. The token grants no
 * access: it only tells the browser from unknown clients, which may be guessing the password.
 */
export interface KnownClients {
  /** The ID of the client; undefined where none of the tokens belongs to this account. */
  find(accountId: string, tokens: readonly string[]): string | undefined
  /** The token of a browser that has signed in. @param client its ID, if it was known before */
  issue(accountId: string, client: string | undefined): string
}

const idLength = 22
const tokenPattern = /^([0-9A-Za-z]{22})\.([\w-]{43})$/

/** @param keys sign the tokens; derived from the sealing keys */
export function createKnownClients(keys: KeySource): KnownClients {
  function signatureOf(key: Uint8Array, accountId: string, client: string): string {
    return createHmac('sha256', key).update(`${accountId} ${client}`).digest('base64url')
  }

  function find(accountId: string, tokens: readonly string[]): string | undefined {
    for (const token of tokens) {
      const [, client = '', signature = ''] = tokenPattern.exec(token) ?? []
      if (client === '') continue
      const isOurs = keysOf(keys).some((key) => isSameText(signatureOf(key, accountId, client), signature))
      if (isOurs) return client
    }
    return undefined
  }

  return {
    find,
    issue: (accountId, client = randomText(idLength)) =>
      `${client}.${signatureOf(keysOf(keys)[0], accountId, client)}`,
  }
}
