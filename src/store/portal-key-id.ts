/**
 * What stands for the key of a token session that was started by a sign-in to the portal: it belongs to no secret key,
 * and ends with the portal sessions of its epoch. No key has such an ID.
 */
const prefix = 'portal:'

/** @param epoch `portal.epoch` of the account */
export function portalKeyId(epoch: number): string {
  return `${prefix}${epoch}`
}

/** The epoch of a session that was started in the portal; undefined = it was started with a key. */
export function portalEpochIn(keyId: string): number | undefined {
  return keyId.startsWith(prefix) ? Number(keyId.slice(prefix.length)) : undefined
}
