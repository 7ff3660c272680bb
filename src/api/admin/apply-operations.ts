import type { FastifyRequest } from 'fastify'
import { applyData } from '#accounts/apply/apply.ts'
import { changeActions } from '#accounts/apply/change.ts'
import { applyMax, defaultStateName, findStateErrors } from '#accounts/apply/desired.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { count, flag, objectSchema, text, textOrNull } from '../json-schema.ts'
import { type AdminOperations, operation } from '../operation.ts'
import { type AdminOperationOptions, newAccount } from './account-operations.ts'
import { newKey, quotaOrNull } from './key-operations.ts'

/** Largest body: some 1,000 accounts with a few keys each. */
const bodyBytesMax = 1_048_576

const { email, plan } = newAccount.properties
const { name, certificate } = newKey.properties
const texts = { type: 'array', items: text } as const

/** No member has a default: what is absent stays as it is. */
export const desiredKey = objectSchema(
  {
    name,
    digest: {
      ...text,
      description:
        'SHA-256 of a key that was made elsewhere, in hexadecimal or base64; another one replaces the key.',
    },
    certificate: { ...certificate, description: 'PEM of a certificate that is the key, in place of digest.' },
    scopes: { ...texts, description: newKey.properties.scopes.description },
    addresses: { ...texts, description: newKey.properties.addresses.description },
    quota: quotaOrNull,
    expiresAt: { ...textOrNull, description: 'RFC 3339; null = it does not expire.' },
  },
  ['digest', 'certificate', 'scopes', 'addresses', 'quota', 'expiresAt'],
)

export const desiredAccount = objectSchema(
  {
    email: { ...email, description: 'Names the account.' },
    firstName: text,
    lastName: text,
    role: text,
    isVerified: flag,
    disabled: flag,
    plan,
    keys: {
      type: 'array',
      items: desiredKey,
      description:
        'Its further keys. One without digest and certificate is made where there is none of its name. Absent = they are not managed.',
    },
  },
  ['firstName', 'lastName', 'role', 'isVerified', 'disabled', 'plan', 'keys'],
)

/** Also the schema of the file of `gatehouse apply`. */
export const desiredState = objectSchema(
  {
    name: {
      ...text,
      description: `Accounts that a state of this name has listed before are those that prune may disable; default ${defaultStateName}.`,
    },
    accounts: { type: 'array', items: desiredAccount, description: `At most ${applyMax.api}.` },
  },
  ['name'],
)

const change = objectSchema(
  {
    action: { enum: changeActions },
    account: { ...text, description: 'Its e-mail.' },
    key: { ...text, description: 'Its name; absent = the change is about the account.' },
    fields: {
      type: 'array',
      items: objectSchema({
        field: text,
        from: { description: 'null = none.' },
        to: { description: 'null = none.' },
      }),
    },
    done: { ...flag, description: 'false in a dry run, and of what was left after a failure.' },
  },
  ['key'],
)

const newKeys = objectSchema(
  {
    account: text,
    id: { ...text, description: 'Of the account.' },
    name: { ...text, description: 'Of the secret key.' },
    secretKey: text,
    apiKey: { ...text, description: 'Of a new account.' },
  },
  ['apiKey'],
)

export const applyResult = objectSchema({
  dryRun: flag,
  complete: { ...flag, description: 'false = a change has failed: see failure, and apply the state again.' },
  changes: { type: 'array', items: change },
  unchanged: { ...count, description: 'How many accounts were as the state says.' },
  keys: { type: 'array', items: newKeys, description: 'The keys that were made: shown only once.' },
  failure: {
    ...objectSchema({ code: text, detail: text, account: text }),
    type: ['object', 'null'],
  },
})

const applyQuery = objectSchema(
  {
    dryRun: { ...flag, default: false, description: 'Changes nothing; the answer is what would be done.' },
    prune: {
      ...flag,
      default: false,
      description:
        'Revokes further keys that an account does not list, and disables accounts that the state no longer lists.',
    },
    pruneMax: {
      ...count,
      description: 'How many keys and accounts may go; default: half of the keys, and half of the accounts.',
    },
  },
  ['dryRun', 'prune', 'pruneMax'],
)

/** Accounts and keys as a document says. */
export function applyOperations({
  actionsOf,
  mayChangeOwn,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/apply'> {
  const findErrors = (request: FastifyRequest) =>
    findStateErrors(request.body, {
      accountsMax: applyMax.api,
      planNames: actionsOf(request).accounts.planNames,
    })
  return {
    '/api/v1/admin/apply': {
      POST: operation({
        id: 'apply',
        summary: 'Makes accounts and their keys as a document says.',
        description:
          'What is so already is not changed, so the same document can be sent again. Everything is checked before the first change. A failure after it is told by `complete` and `failure` in an answer of 200, as the answer shows the keys that were made.',
        query: applyQuery,
        body: desiredState,
        bodyBytesMax,
        responses: { 200: { description: 'What was done, or would be.', schema: applyResult } },
        problems: ['request-invalid', 'account-exists', 'own-account', 'last-admin'],
        findErrors,
        handler: async (request) => {
          const { dryRun, prune, pruneMax } = request.query
          if (pruneMax !== undefined && !prune) throw invalidField('pruneMax', 'must not come without prune')
          const result = await actionsOf(request).apply.run(request.body, {
            isDryRun: dryRun,
            prune: prune ? { max: pruneMax } : undefined,
            accountsMax: applyMax.api,
            mayChangeOwn: await mayChangeOwn(request),
          })
          return applyData(result)
        },
      }),
    },
  }
}
