import { accountDefaults, emailLengthMax } from '#accounts/account-input.ts'
import { pageLimitMax } from '#accounts/account-search.ts'
import { auditFiles } from '#accounts/audit-log.ts'
import { graceSecondsMax } from '#accounts/key-input.ts'
import { auditActions } from '#store/audit-entry.ts'
import type { JsonSchema } from '../operation.ts'

/** The request and response schemas of the admin API. The contents of texts are checked where accounts are created. */

const text = { type: 'string' } as const
const time = { type: 'string', format: 'date-time' } as const
const flag = { type: 'boolean' } as const
const count = { type: 'integer', minimum: 0 } as const
const textOrNull = { type: ['string', 'null'] } as const

/** An object with exactly these members, of which those in `missing` are optional. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false } as const
}

const plan = { ...textOrNull, description: 'Name of a plan of the config; null = none.' }

const profile = { email: text, firstName: text, lastName: text, role: text, isVerified: flag }

export const account = objectSchema({ id: text, ...profile, disabled: flag, plan, createdAt: time })

export const newAccount = objectSchema(
  {
    email: text,
    firstName: { ...text, default: accountDefaults.firstName },
    lastName: { ...text, default: accountDefaults.lastName },
    role: { ...text, default: accountDefaults.role },
    isVerified: { ...flag, default: accountDefaults.isVerified },
    plan,
    mailSetupLink: {
      ...flag,
      default: false,
      description:
        'Mails the set-up link to the owner instead of answering with it; needs `mail` in the config.',
    },
  },
  ['firstName', 'lastName', 'role', 'isVerified', 'plan', 'mailSetupLink'],
)

export const createdAccount = objectSchema(
  {
    id: text,
    ...profile,
    plan: text,
    secretKey: text,
    apiKey: text,
    setupUrl: { type: 'string', format: 'uri' },
  },
  ['plan', 'setupUrl'],
)

const changes = { ...profile, disabled: flag, plan }

export const accountChanges = {
  ...objectSchema(changes, Object.keys(changes)),
  minProperties: 1,
}

export const session = objectSchema({
  id: text,
  createdAt: time,
  refreshedAt: time,
  expiresAt: time,
  refreshes: count,
  address: text,
  client: text,
})

export const auditEntry = objectSchema({
  id: text,
  at: time,
  channel: { enum: ['portal', 'api', 'cli', 'system'] },
  actor: text,
  actorId: textOrNull,
  address: textOrNull,
  action: { enum: auditActions },
  target: textOrNull,
  targetId: textOrNull,
  details: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
})

export function pageSchema(items: JsonSchema): JsonSchema {
  return objectSchema({ items: { type: 'array', items }, nextCursor: textOrNull })
}

const page = {
  limit: { type: 'integer', minimum: 1, maximum: pageLimitMax, default: 50 },
  cursor: { type: 'string', description: 'nextCursor of the previous page.' },
}

function query(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return objectSchema(properties, Object.keys(properties))
}

export const pageQuery = query(page)

export const searchQuery = query({
  ...page,
  q: {
    type: 'string',
    description: 'Prefixes of the e-mail, a part of it, its domain or a name; or an ID.',
  },
})

export const sessionsQuery = query({
  session: { type: 'string', description: 'Only this session.' },
})

export const auditQuery = query({
  ...page,
  // A position in either store: anything else would read as the end of the log.
  cursor: { ...page.cursor, pattern: '^\\d{1,15}(-\\d{1,15})?$' },
  action: { enum: auditActions, description: 'Only entries with this action.' },
  who: {
    type: 'string',
    minLength: 1,
    maxLength: emailLengthMax,
    description:
      'Only what this person did, or what was done to them: a whole e-mail, an ID or the name of an operator.',
  },
  format: { enum: Object.keys(auditFiles), description: 'All matching entries, as a file.' },
})

export const secretKeyReset = objectSchema(
  {
    graceSeconds: {
      type: 'integer',
      minimum: 0,
      maximum: graceSecondsMax,
      default: 0,
      description:
        'How long the old key keeps working: its sessions go on with the new key, also afterwards; 0 ends it, its sessions and its access tokens at once.',
    },
  },
  ['graceSeconds'],
)

export const emptyObject = objectSchema({})

export const secretKey = objectSchema({ secretKey: text })
export const apiKey = objectSchema({ apiKey: text })
