import type { FastifyRequest } from 'fastify'
import { applyData } from '#accounts/apply/apply.ts'
import { changeActions } from '#accounts/apply/change.ts'
import { applyMax, desiredState, findStateErrors } from '#accounts/apply/desired-state.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { count, flag, objectSchema, orNull, text } from '#platform/json-schema.ts'
import { type AdminOperations, operation } from '../operation.ts'
import type { AdminOperationOptions } from './admin-request.ts'

/** Largest body: about 1,000 accounts with a few keys each. */
const bodyBytesMax = 1_048_576

const change = objectSchema(
  {
    action: { enum: changeActions },
    account: { ...text, description: 'Its e-mail.' },
    fields: {
      type: 'array',
      items: objectSchema({
        field: text,
        from: { description: 'null = none.' },
        to: { description: 'null = none.' },
      }),
    },
    done: { ...flag, description: 'false in a dry run, and for changes that a failure prevented.' },
  },
  { key: { ...text, description: 'Its name; absent = the change is about the account.' } },
)

const newKeys = objectSchema(
  {
    account: text,
    id: { ...text, description: 'ID of the account.' },
    name: { ...text, description: 'Name of the secret key.' },
    secretKey: text,
  },
  { apiKey: { ...text, description: 'Only for a new account.' } },
)

export const applyResult = objectSchema({
  dryRun: flag,
  complete: { ...flag, description: 'false = a change failed: see failure, then apply the state again.' },
  changes: { type: 'array', items: change },
  unchanged: { ...count, description: 'How many accounts needed no change.' },
  keys: { type: 'array', items: newKeys, description: 'The generated keys, shown only once.' },
  failure: orNull(objectSchema({ code: text, detail: text, account: text })),
})

const applyQuery = objectSchema(
  {},
  {
    dryRun: { ...flag, default: false, description: 'Changes nothing, and returns what would be done.' },
    prune: {
      ...flag,
      default: false,
      description:
        'Also revokes further keys that the entry of their account does not list, and disables accounts that the state no longer lists.',
    },
    pruneMax: {
      ...count,
      description:
        'Maximum number of accounts and keys to prune; default: half of the accounts, and half of the keys.',
    },
  },
)

/** Brings accounts and keys to the state that a document describes. */
export function applyOperations({ actionsOf, mayChangeOwn }: AdminOperationOptions) {
  const findErrors = (request: FastifyRequest) =>
    findStateErrors(request.body, {
      accountsMax: applyMax.api,
      planNames: actionsOf(request).accounts.planNames,
    })
  return {
    '/api/v1/admin/apply': {
      POST: operation({
        id: 'apply',
        summary: 'Makes accounts and keys match a document.',
        description:
          'What already matches is left unchanged, so the same document can be sent again. Everything is checked before the first change. If a later change fails, the response is still 200, with `complete: false` and `failure`, because it has to show the keys that were made.',
        query: applyQuery,
        body: desiredState,
        bodyBytesMax,
        responses: { 200: { description: 'What was done, or would be done.', schema: applyResult } },
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
  } satisfies Partial<AdminOperations>
}
