import { objectSchema, orNull, text, texts } from '#platform/json-schema.ts'
import { keyNameLengthMax, keyQuotaMax } from './input.ts'

// What a name, a scope or an address may be is checked by findKeyErrors.

export const keyLimitSchemas = {
  scopes: { ...texts, description: 'What the key is limited to; empty = it is not limited.' },
  addresses: {
    ...texts,
    description: 'Addresses and CIDR ranges that the key is accepted from; empty = from anywhere.',
  },
} as const

export const quota = {
  ...objectSchema({
    limit: { type: 'integer', minimum: 1, maximum: keyQuotaMax },
    per: { type: 'string', enum: ['day', 'month'], description: 'UTC day or month.' },
  }),
  description:
    'How many requests the key may send, or units on routes with `quotaCounts: units`, besides what the plan of the account allows.',
} as const
export const quotaOrNull = {
  ...orNull(quota),
  description: `${quota.description} null = unlimited.`,
} as const

export const keyName = {
  ...text,
  description: `1 to ${keyNameLengthMax} letters, digits, ., _ and -; unique among the keys of the account.`,
} as const
