import { isSameText } from '#platform/secrets/sealing.ts'
import type { EpochMs } from '#platform/time.ts'
import { type Account, emailKey, mayBeAnothers } from '../accounts.ts'
import type {
  AttemptOutcome,
  IdentityLink,
  PasskeyAdded,
  PasskeyAddition,
  PasskeyUse,
  PasskeyUsed,
  PasswordChange,
  PasswordProof,
  SecondFactorUse,
} from '../portal.ts'
import {
  hasBeenUsed,
  identitiesMax,
  noPortalAccess,
  type OneTimeLink,
  type Passkey,
  type PortalAccess,
  passkeysOf,
  type SecondFactor,
  withAttempt,
  withoutAttempt,
} from '../portal-access.ts'
import { nextRevision, nextSessionEpoch } from './account-changes.ts'

// What each verb of the portal turns an account into; undefined = rejected. Both adapters save the result only if the
// account has not changed since, so a link works only once, even if it is used twice at the same time.

export function nextPortal(account: Account, changes: Partial<PortalAccess>): Account {
  return nextRevision(account, { portal: { ...account.portal, ...changes } })
}

export function withPassword(
  account: Account,
  { password, proof, endsSessions }: PasswordChange,
): Account | undefined {
  const { portal } = account
  const isLink = proof?.kind === 'setup-link' || proof?.kind === 'reset-link'
  if (isLink && !isValidLink(passwordLinkOf(account, proof.kind), proof)) return undefined
  if (proof?.kind === 'password' && proof.password !== portal.password) return undefined
  // Whoever sets a password without the old one may not be the owner: an Admin can create a link, and can read mail to
  // an address that they have entered. They must not be shown the keys from before.
  const isForeign = proof?.kind !== 'password' && hasBeenUsed(portal)
  return nextPortal(isForeign ? withoutSealedKeys(account) : account, {
    password,
    // An earlier link would grant access to somebody who is to be locked out.
    ...((isLink || endsSessions) && { setupLink: undefined, resetLink: undefined }),
    ...((isLink || endsSessions) && endsFailures(portal, proof) && { failures: undefined }),
    ...(endsSessions && { epoch: portal.epoch + 1 }),
  })
}

/**
 * Failures against the old password say nothing about the new one. But with a second factor some are guesses at its
 * codes: of these, neither the mailbox nor the password may grant more.
 */
function endsFailures({ secondFactor }: PortalAccess, proof: PasswordProof | undefined): boolean {
  return secondFactor === undefined || proof === undefined || proof.kind === 'setup-link'
}

function withoutSealedKeys(account: Account): Account {
  return {
    ...account,
    secretKeys: account.secretKeys.map((key) => ({ ...key, sealed: undefined })),
    apiKey: { ...account.apiKey, sealed: undefined },
  }
}

export function withPasswordAttempt(account: Account, client: string | undefined): Account | undefined {
  const failures = withAttempt(account.portal.failures, client)
  return failures && nextPortal(account, { failures })
}

/** undefined if nothing changes, as the failures were already reset. */
export function withSettledAttempt(
  account: Account,
  outcome: AttemptOutcome,
  client: string | undefined,
): Account | undefined {
  const { failures } = account.portal
  if (failures === undefined) return undefined
  const left = outcome === 'known-client' ? undefined : withoutAttempt(failures, client)
  return nextPortal(account, { failures: left?.total === 0 ? undefined : left })
}

/** The pending link of this kind; undefined = there is none, or it was sent to an e-mail that is not the account's. */
export function passwordLinkOf(
  { email, portal }: Pick<Account, 'email' | 'portal'>,
  kind: 'setup-link' | 'reset-link',
): OneTimeLink | undefined {
  const link = kind === 'setup-link' ? portal.setupLink : portal.resetLink
  return link?.sentTo === undefined || emailKey(link.sentTo) === emailKey(email) ? link : undefined
}

/** How many networks of an account are remembered; one that returns after this many others counts as new. */
const signInNetworksMax = 20

/** undefined if it is known. */
export function withNetwork(account: Account, network: string): Account | undefined {
  const { networks } = account.portal
  if (networks.includes(network)) return undefined
  return nextPortal(account, { networks: [network, ...networks].slice(0, signInNetworksMax) })
}

export function withVerifiedEmail(
  account: Account,
  use: { readonly digest: string; readonly now: EpochMs },
): Account | undefined {
  const { emailLink } = account.portal
  if (!emailLink || !isValidLink(emailLink, use)) return undefined
  return { ...nextPortal(account, { emailLink: undefined }), email: emailLink.email, isVerified: true }
}

export function withIdentity(
  account: Account,
  { identity, email, proof }: IdentityLink,
): Account | undefined {
  const { identities, epoch } = account.portal
  const others = identities.filter(({ issuer }) => issuer !== identity.issuer)
  const linked = identities.find(({ issuer }) => issuer === identity.issuer)
  if (emailKey(account.email) !== emailKey(email)) return undefined
  if (linked && linked.subject !== identity.subject) return undefined
  if (proof?.kind === 'take-over') {
    return nextRevision(account, {
      isVerified: true,
      secretKeys: [proof.secretKey],
      apiKey: proof.apiKey,
      ...nextSessionEpoch(account),
      portal: { ...noPortalAccess, identities: [identity], epoch: epoch + 1 },
    })
  }
  if (!proof && mayBeAnothers(account)) return undefined
  // Whoever has one of these links could use it later, for example to set a password.
  const links = { setupLink: undefined, resetLink: undefined, emailLink: undefined }
  const next = { identities: [...others, identity].slice(-identitiesMax), ...links }
  return { ...nextPortal(account, next), isVerified: true }
}

/** undefined where there is none. */
export function withoutIdentities(account: Account): Account | undefined {
  const { identities, epoch } = account.portal
  return identities.length === 0 ? undefined : nextPortal(account, { identities: [], epoch: epoch + 1 })
}

export function withoutPortalSessions(account: Account): Account {
  return nextPortal(account, { epoch: account.portal.epoch + 1 })
}

function isValidLink(
  link: OneTimeLink | undefined,
  { digest, now }: { readonly digest: string; readonly now: EpochMs },
): boolean {
  return link !== undefined && now < link.expiresAt && isSameText(link.digest, digest)
}

export function withSecondFactor(account: Account, factor: SecondFactor): Account | undefined {
  const { secondFactor } = account.portal
  if (secondFactor?.sealed !== undefined) return undefined
  return nextPortal(account, { secondFactor: { ...secondFactor, ...factor } })
}

export function withUsedFactor(account: Account, use: SecondFactorUse): Account | undefined {
  const factor = account.portal.secondFactor
  if (!factor) return undefined
  if (use.kind === 'step')
    return use.step > factor.lastStep
      ? nextPortal(account, { secondFactor: { ...factor, lastStep: use.step } })
      : undefined
  const recoveryDigests = factor.recoveryDigests.filter((digest) => digest !== use.digest)
  return recoveryDigests.length < factor.recoveryDigests.length
    ? nextPortal(account, { secondFactor: { ...factor, recoveryDigests } })
    : undefined
}

export function withRecoveryCodes(account: Account, recoveryDigests: readonly string[]): Account | undefined {
  const { secondFactor } = account.portal
  return secondFactor && nextPortal(account, { secondFactor: { ...secondFactor, recoveryDigests } })
}

export function withoutSecondFactor(account: Account, part: 'all' | 'app'): Account | undefined {
  const { secondFactor } = account.portal
  if (!secondFactor || (part === 'app' && secondFactor.sealed === undefined)) return undefined
  return nextPortal(account, {
    secondFactor: part === 'all' ? undefined : unlessEmpty({ ...secondFactor, sealed: undefined }),
  })
}

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
  // Authenticators that do not count always report 0 (WebAuthn 7.2).
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
function unlessEmpty(factor: SecondFactor): SecondFactor | undefined {
  return factor.sealed === undefined && (factor.passkeys ?? []).length === 0 ? undefined : factor
}

function isReplayed({ passkeyChallengeAt = 0 }: PortalAccess, challengeAt: EpochMs): boolean {
  return challengeAt <= passkeyChallengeAt
}

function withFactor(
  account: Account,
  secondFactor: SecondFactor | undefined,
  passkeyChallengeAt = account.portal.passkeyChallengeAt,
): Account {
  return nextPortal(account, { secondFactor, passkeyChallengeAt })
}
