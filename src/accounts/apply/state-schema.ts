import { flag, objectSchema, text, textOrNull, type Value } from '#platform/json-schema.ts'
import { keyLimitSchemas, keyName, quotaOrNull } from '../keys/schema.ts'

// The desired state of some accounts. An absent member stays as it is; in a new account or key it gets its default.

export const defaultStateName = 'default'

/** Maximum number of accounts in one file: through the admin API, and on the command line. */
export const applyMax = { api: 1_000, command: 20_000 } as const

/** A further secret key, identified by name. */
export const desiredKey = objectSchema(
  { name: keyName },
  {
    digest: {
      ...text,
      description:
        'SHA-256 of a key that was made elsewhere, in hexadecimal or base64; a different one replaces the key.',
    },
    certificate: {
      ...text,
      description: 'PEM of a certificate to use as the key, instead of digest.',
    },
    ...keyLimitSchemas,
    quota: quotaOrNull,
    expiresAt: { ...textOrNull, description: 'RFC 3339; null = it does not expire.' },
  },
)

/** An account, identified by its e-mail. */
export const desiredAccount = objectSchema(
  { email: { ...text, description: 'Identifies the account.' } },
  {
    firstName: text,
    lastName: text,
    role: text,
    isVerified: flag,
    disabled: flag,
    plan: { ...textOrNull, description: 'Name of a plan of the config; null = none.' },
    keys: {
      type: 'array',
      items: desiredKey,
      description:
        'Further keys. A key without digest and certificate is generated if the account has none of that name. Absent = further keys are not managed.',
    },
  },
)

/** The body of the admin API, and the file of `gatehouse apply`. */
export const desiredState = objectSchema(
  { accounts: { type: 'array', items: desiredAccount, description: `At most ${applyMax.api}.` } },
  {
    name: {
      ...text,
      description: `prune disables only accounts that a state of this name has listed before; default ${defaultStateName}.`,
    },
  },
)

export type DesiredState = Value<typeof desiredState>
export type DesiredAccount = Value<typeof desiredAccount>
export type DesiredKey = Value<typeof desiredKey>
