import type { Account } from '../accounts.ts'
import type { PasskeyAdded, PasskeyAddition, PasskeyUse, PasskeyUsed } from '../portal.ts'
import { type Passkey, type PortalAccess, passkeysOf, type SecondFactor } from '../portal-access.ts'
import { nextRevision } from './account-changes.ts'

// What each verb for passkeys turns an account into: see account-changes.ts.

export function withPasskey(
  account: Account,
  { passkey, challengeAt, recoveryDigests, passkeysMax }: PasskeyAddition,
): Account | Exclude<PasskeyAdded, 'added' | 'unknown'> {
  const { portal } = account
  const passkeys = passkeysOf(portal)
  if (isReplayed(portal, challengeAt)) return 'replayed'
  if (passkeys.some(({ id }) => id === passkey.id)) return 'exists'
  if (passkeys.length >= passkeysMax) return 'too-many'
  const { secondFactor = { enabledAt: passkey.createdAt, lastStep: 0, recoveryDigests } } = portal
  return withFactor(account, { ...secondFactor, passkeys: [...passkeys, passkey] }, challengeAt)
}

export function withUsedPasskey(
  account: Account,
  { id, counter, challengeAt, now }: PasskeyUse,
): Account | Exclude<PasskeyUsed, 'used'> {
  const { portal } = account
  const { secondFactor } = portal
  const used = passkeysOf(portal).find((each) => each.id === id)
  if (!secondFactor || !used) return 'unknown'
  if (isReplayed(portal, challengeAt)) return 'replayed'
  // Authenticators that do not count always tell 0 (WebAuthn 7.2).
  if ((counter > 0 || used.counter > 0) && counter <= used.counter) return 'counter'
  const passkeys = replaced(secondFactor, id, { ...used, counter, usedAt: now })
  return withFactor(account, { ...secondFactor, passkeys }, challengeAt)
}

/** undefined where there is no such passkey. */
export function withChangedPasskey(
  account: Account,
  { id, name }: { readonly id: string; readonly name: string | undefined },
): Account | undefined {
  const { secondFactor } = account.portal
  const passkey = passkeysOf(account.portal).find((each) => each.id === id)
  if (!secondFactor || !passkey) return undefined
  const passkeys = replaced(secondFactor, id, name === undefined ? undefined : { ...passkey, name })
  return withFactor(account, unlessEmpty({ ...secondFactor, passkeys }))
}

function replaced({ passkeys = [] }: SecondFactor, id: string, by: Passkey | undefined): readonly Passkey[] {
  return passkeys.flatMap((each) => (each.id === id ? (by ?? []) : each))
}

/** Recovery codes alone are no second factor. */
export function unlessEmpty(factor: SecondFactor): SecondFactor | undefined {
  return factor.sealed === undefined && (factor.passkeys ?? []).length === 0 ? undefined : factor
}

function isReplayed({ passkeyChallengeAt = 0 }: PortalAccess, challengeAt: number): boolean {
  return challengeAt <= passkeyChallengeAt
}

function withFactor(
  account: Account,
  secondFactor: SecondFactor | undefined,
  passkeyChallengeAt = account.portal.passkeyChallengeAt,
): Account {
  return nextRevision(account, { portal: { ...account.portal, secondFactor, passkeyChallengeAt } })
}
