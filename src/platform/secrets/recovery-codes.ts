import { createHmac, randomInt } from 'node:crypto'
import { type Keys, keyIdOf } from './key-source.ts'

/** How many recovery codes an account has, each for one sign-in without its app. */
export const recoveryCodesCount = 10

/** Without letters and digits that look alike: 31 of them, so that ten are 49 bits. */
const alphabet = '23456789abcdefghjkmnpqrstuvwxyz'
const halfLength = 5
const codePattern = /^[2-9a-z]{5}-?[2-9a-z]{5}$/

/** New codes such as `k7m2p-x9qrt`. */
export function createRecoveryCodes(): readonly string[] {
  return Array.from({ length: recoveryCodesCount }, () => `${randomHalf()}-${randomHalf()}`)
}

export function isRecoveryCode(text: string): boolean {
  return codePattern.test(text)
}

/** What is stored of a code. Its 49 bits could be searched, so it takes a key that the store does not have. */
export function recoveryDigest(key: Uint8Array, accountId: string, code: string): string {
  return createHmac('sha256', key)
    .update(`${accountId} ${code.replace('-', '')}`)
    .digest('base64url')
}

/** As they are stored: while several keys are accepted, with the name of the one that made them. */
export function newRecoveryDigests(
  keys: Keys,
  accountId: string,
  codes: readonly string[],
): readonly string[] {
  const [current, ...others] = keys
  const mark = others.length === 0 ? '' : markOf(current)
  return codes.map((code) => mark + recoveryDigest(current, accountId, code))
}

/** What may be stored of a code. */
export function possibleRecoveryDigests(keys: Keys, accountId: string, code: string): readonly string[] {
  return keys.flatMap((key) => {
    const digest = recoveryDigest(key, accountId, code)
    return [markOf(key) + digest, digest]
  })
}

/** Whether a stored digest says that this key made it. */
export function isRecoveryDigestOf(key: Uint8Array, digest: string): boolean {
  return digest.startsWith(markOf(key))
}

function markOf(key: Uint8Array): string {
  return `${keyIdOf(key)}.`
}

function randomHalf(): string {
  return Array.from({ length: halfLength }, () => alphabet[randomInt(alphabet.length)]).join('')
}
