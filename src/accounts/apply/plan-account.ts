import { type FieldError, GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { type EpochMs, parseTime } from '#platform/time.ts'
import type { Account, AccountChanges } from '#store/accounts.ts'
import { namedKeyOf, type SecretKey } from '#store/secret-keys.ts'
import { quotaData, timeOrNull } from '../account-data.ts'
import { type AccountInput, accountDefaults } from '../account-input.ts'
import { endingWith, parseCertificateInput } from '../keys/certificate-input.ts'
import { assertValidKey, parseDigest, type SecretKeyInput } from '../keys/input.ts'
import { type Change, fieldChanges, type Step } from './change.ts'
import { type DesiredAccount, type DesiredKey, within } from './desired-state.ts'

/** The step that creates an account of the file. @param name of the state */
export function planCreation(
  { email, disabled, plan, keys: _, ...profile }: DesiredAccount,
  name: string,
): Step {
  const input: AccountInput = {
    ...accountDefaults,
    ...profile,
    email,
    ...(plan != null && { plan }),
    ...(disabled && { isDisabled: true }),
    managedBy: name,
  }
  const { isDisabled, ...given } = input
  const shown = { ...given, ...(isDisabled && { disabled: true }) }
  return {
    change: {
      action: 'create-account',
      account: email,
      fields: fieldChanges({ email }, shown).filter(({ to }) => to !== '' && to !== false),
    },
    work: { kind: 'create-account', input },
  }
}

/** The step that makes an account match the file; none if it already does. */
export function planUpdate(desired: DesiredAccount, account: Account, name: string): readonly Step[] {
  const { email, keys: _, disabled, ...others } = desired
  const before = { ...account, disabled: account.isDisabled }
  const wanted = { ...others, ...(disabled !== undefined && { disabled }), managedBy: name }
  const fields = fieldChanges(before, wanted)
  if (fields.length === 0) return []
  const changes: AccountChanges = Object.fromEntries(
    fields.map(({ field, to }) => [field === 'disabled' ? 'isDisabled' : field, to ?? undefined]),
  )
  const action = changes.isDisabled ? 'disable-account' : 'update-account'
  return [
    {
      change: { action, account: email, fields },
      work: { kind: 'update-account', id: account.id, changes },
    },
  ]
}

/** What the plan needs to know from the store and the config. */
interface KeyContext {
  /** undefined = it is created in the same run. */
  readonly account: Account | undefined
  readonly now: EpochMs
  /** The IDs of accounts by the digests of their keys, in hexadecimal. */
  readonly holders: ReadonlyMap<string, string>
  readonly keysMax: number
}

/**
 * Plans the steps that give an account its keys.
 * @returns the steps, and errors with paths within the account
 */
export function planKeys(
  email: string,
  keys: readonly DesiredKey[],
  context: KeyContext,
): { readonly steps: readonly Step[]; readonly errors: readonly FieldError[] } {
  const { account, keysMax } = context
  const errors: FieldError[] = []
  const steps = keys.flatMap((key, index) => {
    try {
      const step = planKey(email, key, context)
      return step ? [step] : []
    } catch (error) {
      if (!(error instanceof GatehouseError) || !error.errors) throw error
      errors.push(...within(`keys.${index}`, error.errors))
      return []
    }
  })
  const created = steps.filter(({ work }) => work.kind === 'create-key').length
  // A new account already has its default key.
  const count = account ? account.secretKeys.filter(({ revokedAt }) => revokedAt === undefined).length : 1
  if (created > 0 && count + created > keysMax) {
    const message = `the account would have ${count + created} secret keys, more than keys.maxPerAccount (${keysMax}): revoke some first`
    errors.push({ field: 'keys', message })
  }
  return { steps, errors }
}

/** The SHA-256 of the key in an entry; undefined = the entry has neither digest nor certificate. */
export function digestIn({ digest, certificate }: DesiredKey): Uint8Array | undefined {
  if (digest !== undefined) return parseDigest(digest)
  return certificate === undefined ? undefined : parseCertificateInput(certificate, 0).digest
}

/** @throws GatehouseError `request-invalid` with fields of the key */
function planKey(
  email: string,
  desired: DesiredKey,
  { account, now, holders }: KeyContext,
): Step | undefined {
  const digest = digestIn(desired)
  const before = account && namedKeyOf(account, desired.name)
  const isNewKey = !before || (digest !== undefined && Buffer.compare(digest, before.digest) !== 0)
  if (digest && isNewKey) assertFree(desired, digest, { account, holders })
  const input = inputOf(desired, before, { isNewKey, now })
  const data = limitsData(input)
  const change = (action: Change['action'], fields: Change['fields']): Change => ({
    action,
    account: email,
    key: desired.name,
    fields,
  })
  if (!before) {
    assertValidKey(input, now)
    const named = digest && { digest: shortDigest(digest) }
    return {
      change: change('create-key', fieldChanges(limitsData(unlimitedInput), { ...named, ...data })),
      work: { kind: 'create-key', id: account?.id, input, digest },
    }
  }
  const limits = fieldChanges(limitsData(before), data)
  if (!isNewKey && limits.length === 0) return undefined
  // An existing key may have expired, but the end of a new key, or a new end, must be in the future.
  if (isNewKey || limits.some(({ field }) => field === 'expiresAt')) assertValidKey(input, now)
  const replaced = isNewKey && digest ? digest : before.digest
  const digests = { from: shortDigest(before.digest), to: shortDigest(replaced) }
  const kind = isNewKey ? 'replace-key' : 'update-key'
  return {
    change: change(kind, [...(isNewKey ? [{ field: 'digest', ...digests }] : []), ...limits]),
    work: { kind, id: account.id, replacement: { before, input, digest: replaced } },
  }
}

function assertFree(
  { name, digest: text }: DesiredKey,
  digest: Uint8Array,
  { account, holders }: Pick<KeyContext, 'account' | 'holders'>,
): void {
  const field = text === undefined ? 'certificate' : 'digest'
  const holder = holders.get(Buffer.from(digest).toString('hex'))
  const other = account?.secretKeys.find(
    (key) => key.name !== name && Buffer.compare(key.digest, digest) === 0,
  )
  if (other) throw invalidField(field, `is already the key "${other.name}" of this account`)
  if (holder !== undefined && holder !== account?.id)
    throw invalidField(field, 'belongs to a key of another account')
}

const unlimitedInput: Omit<SecretKeyInput, 'name'> = { scopes: [], addresses: [], expiresAt: undefined }

/** The desired key: each limit is that of the file, else that of the stored key, else none. */
function inputOf(
  { name, scopes, addresses, quota, expiresAt, certificate }: DesiredKey,
  before: SecretKey | undefined,
  { isNewKey, now }: { readonly isNewKey: boolean; readonly now: EpochMs },
): SecretKeyInput {
  const known = before ?? unlimitedInput
  const asked = expiresAt === undefined || expiresAt === null ? undefined : parseTime(expiresAt)
  // A certificate has an end of its own, which applies if the file has none.
  const isKept = expiresAt === undefined || (expiresAt === null && certificate !== undefined)
  const kept = certificate !== undefined && isNewKey ? undefined : known.expiresAt
  const input = {
    name,
    scopes: scopes ?? known.scopes,
    addresses: addresses ?? known.addresses,
    quota: quota === undefined ? known.quota : (quota ?? undefined),
    expiresAt: isKept ? kept : asked,
  }
  if (certificate === undefined || (!isNewKey && input.expiresAt === known.expiresAt)) return input
  return endingWith(parseCertificateInput(certificate, now), input, now)
}

function limitsData({ scopes, addresses, quota, expiresAt }: Omit<SecretKeyInput, 'name'>) {
  return { scopes, addresses, quota: quotaData(quota), expiresAt: timeOrNull(expiresAt) }
}

/** Long enough to tell keys apart. */
function shortDigest(digest: Uint8Array): string {
  return `${Buffer.from(digest).toString('hex', 0, 6)}…`
}
