import { createHmac, randomInt } from 'node:crypto'

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

function randomHalf(): string {
  return Array.from({ length: halfLength }, () => alphabet[randomInt(alphabet.length)]).join('')
}
