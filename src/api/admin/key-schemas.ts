import { graceSecondsMax } from '#accounts/account-keys.ts'
import { addressesMax, keyLifetimeMsMax, keyNameLengthMax, scopesMax } from '#accounts/key-input.ts'
import { objectSchema } from './schemas.ts'

/** Schemas of the secret keys of an account. What a name, a scope or an address may be is checked in accounts/. */

const text = { type: 'string' } as const
const time = { type: 'string', format: 'date-time' } as const
const timeOrNull = { type: ['string', 'null'], format: 'date-time' } as const
const texts = { type: 'array', items: text } as const
const limits = {
  scopes: { ...texts, description: 'What the key is limited to; empty = it is not limited.' },
  addresses: {
    ...texts,
    description: 'Addresses and CIDR ranges that the key is accepted from; empty = from anywhere.',
  },
}

export const keyItem = objectSchema({
  name: text,
  lastFour: { type: ['string', 'null'], description: 'The end of the key; null = not kept.' },
  state: { enum: ['valid', 'expired'] },
  ...limits,
  createdAt: time,
  expiresAt: { ...timeOrNull, description: 'null = it does not expire.' },
  revokedAt: { ...timeOrNull, description: 'The end of its grace period; null = it is not revoked.' },
  lastUsedAt: { ...timeOrNull, description: 'Accurate to a few seconds; null = never.' },
  lastUsedFrom: { type: ['string', 'null'] },
  imported: { type: 'boolean', description: 'Whether the key was made elsewhere.' },
})

export const newKey = objectSchema(
  {
    name: {
      ...text,
      description: `1 to ${keyNameLengthMax} letters, digits, ., _ and -; unique among the keys of the account.`,
    },
    scopes: { ...limits.scopes, maxItems: scopesMax, default: [] },
    addresses: { ...limits.addresses, maxItems: addressesMax, default: [] },
    expiresAt: {
      ...text,
      description: 'RFC 3339, such as 2030-01-31T00:00:00Z; absent = it does not expire.',
    },
    expiresInSeconds: {
      type: 'integer',
      minimum: 1,
      maximum: keyLifetimeMsMax / 1_000,
      description: 'In place of expiresAt.',
    },
  },
  ['scopes', 'addresses', 'expiresAt', 'expiresInSeconds'],
)

export const createdKey = objectSchema({ secretKey: text, name: text, ...limits, expiresAt: timeOrNull })

export const keyRevocation = objectSchema(
  {
    graceSeconds: {
      type: 'integer',
      minimum: 0,
      maximum: graceSecondsMax,
      default: 0,
      description: 'How long the key keeps working; 0 ends it, its sessions and its access tokens at once.',
    },
  },
  ['graceSeconds'],
)
