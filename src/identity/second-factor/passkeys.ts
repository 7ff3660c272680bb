import { ownAuditEntry } from '#accounts/audit-log.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { createRecoveryCodes, newRecoveryDigests } from '#platform/secrets/one-time-codes.ts'
import { type KeySource, keysOf } from '#platform/secrets/sealing.ts'
import type { Account } from '#store/accounts.ts'
import type { SecondFactorStore } from '#store/portal.ts'
import { passkeysOf } from '#store/portal-access.ts'
import type { Visitor } from '#store/sessions.ts'
import {
  challengeLifetimeMs,
  createPasskeyChallenges,
  createPasskeyCheck,
  type PasskeyCheck,
  type PasskeyCheckOptions,
  type PasskeyFlow,
  type PasskeyGiven,
  passkeyNotAccepted,
  voidChallenge,
} from './passkey-check.ts'
import { PasskeyRefused, parsePasskeyAnswer, passkeyAlgorithms, verifyNewPasskey } from './webauthn.ts'

/** Passkeys (WebAuthn): as a second factor, or instead of the password where they verify the user. */
export interface Passkeys extends PasskeyCheck {
  /** The only origin at which they work. */
  readonly origin: string
  /** For `PublicKeyCredential.parseCreationOptionsFromJSON`. The caller has confirmed password and second factor. */
  creationOptions(account: Account, flow: PasskeyFlow): object
  /** For `PublicKeyCredential.parseRequestOptionsFromJSON`. @param account undefined = any account's */
  requestOptions(flow: PasskeyFlow, account?: Account): object
  /**
   * Adds a passkey to the account that its flow names.
   * @returns recovery codes, shown only now, if it is the first second factor
   * @throws GatehouseError `request-invalid` (fields `credential`, `name`)
   */
  add(
    account: Account,
    given: PasskeyGiven & { readonly name: string },
  ): Promise<readonly string[] | undefined>
  /** @throws GatehouseError `request-invalid` (field `to`) @returns false where there is no such passkey */
  rename(
    account: Account,
    change: { readonly id: string; readonly to: string },
    visitor: Visitor,
  ): Promise<boolean>
  /** @returns false where there is no such passkey */
  remove(account: Account, id: string, visitor: Visitor): Promise<boolean>
}

interface PasskeysOptions extends PasskeyCheckOptions {
  readonly store: PasskeyCheckOptions['store'] & SecondFactorStore
  /** For challenges and recovery codes; derived from the sealing keys. */
  readonly keys: KeySource
}

/** How many an account may have. */
export const passkeysMax = 10
export const passkeyNameLengthMax = 60
// Nothing invisible, so that two names that look alike are alike.
const namePattern = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u

export function createPasskeys(options: PasskeysOptions): Passkeys {
  const { store, keys, relyingParty, clock } = options
  const challenges = createPasskeyChallenges(keys, clock)

  const add: Passkeys['add'] = async (account, { credential, name, flow, visitor }) => {
    assertName('name', name)
    const codes = createRecoveryCodes()
    const recoveryDigests = newRecoveryDigests(keysOf(keys), account.id, codes)
    const added = await addAnswered().catch(asFieldError)
    if (added !== 'added') throw invalidField('credential', notAdded[added])
    const after = await store.findAccount(account.id)
    const isFirst = after?.portal.secondFactor?.recoveryDigests[0] === recoveryDigests[0]
    return isFirst ? codes : undefined

    async function addAnswered() {
      const answer = parsePasskeyAnswer(credential)
      const challengeAt = challenges.timeOf(answer.challenge, flow)
      if (challengeAt === undefined) throw new PasskeyRefused(voidChallenge)
      const passkey = { ...(await verifyNewPasskey(answer, relyingParty)), name, createdAt: clock() }
      const entry = ownAuditEntry(
        { account, action: 'passkey-added', details: { passkey: name } },
        visitor,
        clock,
      )
      return store.addPasskey(account.id, { passkey, challengeAt, recoveryDigests, passkeysMax }, entry)
    }
  }

  function change(
    account: Account,
    { id, name }: { readonly id: string; readonly name: string | undefined },
    visitor: Visitor,
  ): Promise<boolean> {
    const before = passkeysOf(account.portal).find((passkey) => passkey.id === id)?.name ?? ''
    const action = name === undefined ? 'passkey-removed' : 'passkey-renamed'
    const details = { passkey: before, ...(name !== undefined && { to: name }) }
    return store.changePasskey(
      account.id,
      { id, name },
      ownAuditEntry({ account, action, details }, visitor, clock),
    )
  }

  return {
    origin: relyingParty.origin,
    creationOptions: ({ id, email, portal }, flow) => ({
      challenge: challenges.create(flow),
      rp: { id: relyingParty.id, name: relyingParty.name },
      user: { id: Buffer.from(id).toString('base64url'), name: email, displayName: email },
      pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
      timeout: challengeLifetimeMs,
      excludeCredentials: descriptorsOf(portal),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
      attestation: 'none',
    }),
    requestOptions: (flow, account) => ({
      challenge: challenges.create(flow),
      rpId: relyingParty.id,
      timeout: challengeLifetimeMs,
      allowCredentials: account ? descriptorsOf(account.portal) : [],
      userVerification: flow.purpose === 'second-factor' ? 'preferred' : 'required',
    }),
    add,
    ...createPasskeyCheck(challenges, options),
    rename: async (account, { id, to }, visitor) => {
      assertName('to', to)
      return change(account, { id, name: to }, visitor)
    },
    remove: (account, id, visitor) => change(account, { id, name: undefined }, visitor),
  }
}

function assertName(field: string, name: string): void {
  if (name.length > passkeyNameLengthMax || !name.isWellFormed() || !namePattern.test(name))
    throw invalidField(
      field,
      `must be 1 to ${passkeyNameLengthMax} characters, without invisible or control characters`,
    )
}

function descriptorsOf(portal: Account['portal']): readonly object[] {
  return passkeysOf(portal).map(({ id, transports }) => ({ type: 'public-key', id, transports }))
}

const notAdded = {
  exists: 'This passkey is set up already.',
  'too-many': `An account has at most ${passkeysMax} passkeys: remove one first.`,
  replayed: passkeyNotAccepted,
  unknown: passkeyNotAccepted,
} as const

/** For the page with the form. @throws always */
function asFieldError(error: unknown): never {
  if (!(error instanceof PasskeyRefused)) throw error
  throw invalidField('credential', passkeyNotAccepted)
}
