import { parseAddressRange } from '#platform/addresses.ts'
import { type FieldError, GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { objectSchema, orNull, text, texts } from '#platform/json-schema.ts'
import { dayMs, type EpochMs } from '#platform/time.ts'
import type { Quota } from '#store/quotas.ts'
import { defaultKeyName, type KeyValidity, validUntil } from '#store/secret-keys.ts'

/** What a further secret key is created from. */
export interface SecretKeyInput {
  /** Unique among the account's keys. */
  readonly name: string
  /** Empty = it is not limited. */
  readonly scopes: readonly string[]
  /** Addresses and CIDR ranges that it is accepted from; empty = from anywhere. */
  readonly addresses: readonly string[]
  /** How many requests it may send; undefined = as many as its account. */
  readonly quota?: Quota | undefined
  /** undefined = it does not expire. */
  readonly expiresAt: EpochMs | undefined
}

/** For a key's name, and for each scope. */
export const keyNameLengthMax = 64
const scopeLengthMax = 64
/** How many one key may have. */
export const scopesMax = 32
export const addressesMax = 32
/** How far ahead a key may expire: ten years. */
export const keyLifetimeMsMax = 3_653 * dayMs

/** The same maximum as for the quota of a plan. */
const keyQuotaMax = 1_000_000_000_000
export const quotaRule = `must be 1 to ${keyQuotaMax} per day or month, such as 1000/day`

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]*$/
/** RFC 6749 3.3, without the comma, which separates scopes in commands. */
export const scopePattern = `^[!#-+\\--\\[\\]-~]{1,${scopeLengthMax}}$`
/** The same in words. */
export const scopeForm = `1 to ${scopeLengthMax} visible ASCII characters, without double quotes, commas and backslashes`
const scope = new RegExp(scopePattern)

/** @throws GatehouseError `request-invalid` with every field that is wrong */
export function assertValidKey(input: SecretKeyInput, now: EpochMs): void {
  const errors = findKeyErrors(input, now)
  if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
}

/** Why no further key gets the name of the default one. */
const defaultNameError = `"${defaultKeyName}" is the name of the key that a reset creates`

/** Every field that is wrong. */
export function findKeyErrors(
  { name, scopes, addresses, quota, expiresAt }: SecretKeyInput,
  now: EpochMs,
): FieldError[] {
  const errors: FieldError[] = []
  if (name === defaultKeyName) {
    errors.push({ field: 'name', message: defaultNameError })
  } else if (name.length > keyNameLengthMax || !namePattern.test(name)) {
    const message = `must be 1 to ${keyNameLengthMax} letters, digits, . _ or -, starting with a letter or digit`
    errors.push({ field: 'name', message })
  }
  if (
    scopes.length > scopesMax ||
    new Set(scopes).size < scopes.length ||
    !scopes.every((each) => scope.test(each))
  ) {
    const message = `must be at most ${scopesMax} different scopes of ${scopeForm}`
    errors.push({ field: 'scopes', message })
  }
  if (addresses.length > addressesMax || !addresses.every((each) => parseAddressRange(each))) {
    const message = `must be at most ${addressesMax} addresses or CIDR ranges, such as 203.0.113.7 or 10.0.0.0/8`
    errors.push({ field: 'addresses', message })
  }
  if (quota !== undefined && !(quota.limit >= 1 && quota.limit <= keyQuotaMax))
    errors.push({ field: 'quota', message: quotaRule })
  if (expiresAt !== undefined && !(expiresAt > now && expiresAt <= now + keyLifetimeMsMax)) {
    errors.push({ field: 'expiresAt', message: 'must be in the future, at most ten years ahead' })
  }
  return errors
}

/** @param text such as `1000/day` @returns undefined if it has another form */
export function parseQuota(text: string): Quota | undefined {
  const [, limit, per] = /^(\d{1,15})\/(day|month)$/.exec(text) ?? []
  return limit === undefined ? undefined : { limit: Number(limit), per: per === 'day' ? 'day' : 'month' }
}

/** Such as `1000/day`. */
export function quotaText({ limit, per }: Quota): string {
  return `${limit}/${per}`
}

/** What the audit log has of a key that was created or changed. */
export function keyDetails({ name, scopes, addresses, quota, expiresAt }: SecretKeyInput) {
  return {
    name,
    scopes: scopes.join(' '),
    ...(addresses.length > 0 && { addresses: addresses.join(' ') }),
    ...(quota && { quota: quotaText(quota) }),
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  }
}

/** The longest overlap that any reset may ask for: 30 days. */
export const graceSecondsMax = 30 * 86_400

/** Whether it is a valid grace period: 0 to `graceSecondsMax`, with fractions. */
export function isValidGrace(seconds: number): boolean {
  return seconds >= 0 && seconds <= graceSecondsMax
}

/** @throws GatehouseError `request-invalid` (field `graceSeconds`) */
export function assertValidGrace(graceSeconds: number): void {
  if (isValidGrace(graceSeconds)) return
  throw invalidField('graceSeconds', `must be a number from 0 to ${graceSecondsMax}`)
}

/** When a grace period ends; undefined = there is none. */
export function graceEnd(graceSeconds: number, now: EpochMs): EpochMs | undefined {
  return graceSeconds > 0 ? now + graceSeconds * 1_000 : undefined
}

/**
 * How many seconds of a grace period keys still work, rounded up: none works for longer than it would have anyway.
 * @returns 0 if none of them works any more
 */
export function graceLeft(keys: readonly KeyValidity[], graceSeconds: number, now: EpochMs): number {
  const left = keys.map((key) => Math.ceil((validUntil(key) - now) / 1_000))
  return Math.max(Math.min(Math.max(...left), graceSeconds), 0)
}

// Schemas of the members of a key in bodies and files; findKeyErrors checks what names, scopes and addresses may be.

export const keyLimitSchemas = {
  scopes: { ...texts, description: 'What the key is limited to; empty = it is not limited.' },
  addresses: {
    ...texts,
    description: 'Addresses and CIDR ranges that the key is accepted from; empty = from anywhere.',
  },
} as const

export const keyQuota = {
  ...objectSchema({
    limit: { type: 'integer', minimum: 1, maximum: keyQuotaMax },
    per: { type: 'string', enum: ['day', 'month'], description: 'UTC day or month.' },
  }),
  description:
    'How many requests the key may send, or units on routes with `quotaCounts: units`, besides what the plan of the account allows.',
} as const
export const keyQuotaOrNull = {
  ...orNull(keyQuota),
  description: `${keyQuota.description} null = unlimited.`,
} as const

export const keyName = {
  ...text,
  description: `1 to ${keyNameLengthMax} letters, digits, ., _ and -; unique among the keys of the account.`,
} as const

/** What is said of a text that `parseDigest` cannot read. */
export const digestRule = 'must be a SHA-256, 64 hexadecimal digits or 43 characters of base64'
const hex = /^[0-9a-f]{64}$/i
const base64 = /^[\w+/-]{43}=?$/

/** A SHA-256: 64 hexadecimal digits, or base64. */
export function parseDigest(text: string): Uint8Array | undefined {
  if (hex.test(text)) return Buffer.from(text, 'hex')
  return base64.test(text) ? Buffer.from(text, 'base64') : undefined
}
