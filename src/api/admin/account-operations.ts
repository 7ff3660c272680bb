import type { AccountActions } from '#accounts/account-actions.ts'
import { accountData, createdData, listedAccountData } from '#accounts/account-data.ts'
import { accountDefaults, findInputErrors } from '#accounts/account-input.ts'
import { type AccountQueryField, accountQueryFields, parseAccountQuery } from '#accounts/account-query.ts'
import { desiredAccount } from '#accounts/apply/desired-state.ts'
import { tryCreateSetupLink } from '#accounts/setup-links.ts'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { recordReason } from '#gateway/arrival/outcome.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { flag, type JsonSchema, objectSchema, text, time, type Value } from '#platform/json-schema.ts'
import { accountOrders } from '#store/accounts.ts'
import { type AdminOperations, operation } from '../operation.ts'
import { type AdminOperationOptions, idOf, page, pageData, pageSchema } from './admin-request.ts'

// These schemas check only the types of members: the account actions check the contents of texts.

const { plan } = desiredAccount.properties

const profile = { email: text, firstName: text, lastName: text, role: text, isVerified: flag } as const

export const account = objectSchema({ id: text, ...profile, disabled: flag, plan, createdAt: time })

export const newAccount = objectSchema(
  { email: text },
  {
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
)

export const createdAccount = objectSchema(
  { id: text, ...profile, secretKey: text, apiKey: text },
  { plan: text, setupUrl: { ...text, format: 'uri' } },
)

export const accountChanges = {
  ...objectSchema({}, { ...profile, disabled: flag, plan }),
  minProperties: 1,
} as const

export const listedAccount = objectSchema({
  ...account.properties,
  lastActiveOn: {
    type: ['string', 'null'],
    format: 'date',
    description:
      'The last day (UTC) on which it sent a request, used a key or was in the portal; null = never.',
  },
} as const)

/** A query parameter that filters or sorts the list, with the description that the command line has too. */
function filterParameter<Schema extends JsonSchema>(name: AccountQueryField, schema: Schema) {
  return { ...schema, description: accountQueryFields[name].help }
}

const listQuery = objectSchema(
  {},
  {
    ...page,
    q: filterParameter('q', text),
    role: filterParameter('role', text),
    plan: filterParameter('plan', text),
    disabled: filterParameter('disabled', flag),
    activeSince: filterParameter('activeSince', text),
    inactiveSince: filterParameter('inactiveSince', text),
    sort: filterParameter('sort', { type: 'string', enum: accountOrders } as const),
  },
)

/** What a schema cannot say about the members of a new account, or of changes to one. */
function findMemberErrors(
  { plan, ...others }: Partial<Value<typeof newAccount>>,
  { accounts }: AccountActions,
) {
  return findInputErrors({ ...others, plan: plan ?? undefined }, accounts.planNames)
}

export function accountOperations({
  actionsOf,
  actionsWithoutPassword,
  hasSetupLinks,
}: AdminOperationOptions) {
  return {
    '/api/v1/admin/accounts': {
      GET: operation({
        id: 'listAccounts',
        summary: 'Lists accounts, or searches and filters them.',
        description:
          'Newest first. A page with `q` or a filter may be short, or empty, even if there is a next one.',
        query: listQuery,
        responses: { 200: { description: 'A page of accounts.', schema: pageSchema(listedAccount) } },
        problems: ['request-invalid'],
        handler: async (request) => {
          const { cursor, limit, ...given } = request.query
          const query = parseAccountQuery((name) => given[name]?.toString())
          return pageData(await actionsOf(request).search.page({ query, cursor, limit }), listedAccountData)
        },
      }),
      POST: operation({
        id: 'createAccount',
        summary: 'Creates an account with its keys, which are shown only once.',
        description:
          '`setupUrl` is absent without a portal, or if the link could not be created: the account is created all the same, and the portal or `gatehouse accounts setup-link` can create a link later.',
        body: newAccount,
        responses: {
          201: { description: 'The account, with its keys.', schema: createdAccount, headers: ['Location'] },
        },
        problems: ['request-invalid', 'account-exists', 'mail-unavailable'],
        findErrors: (request, members) => findMemberErrors(members, actionsOf(request)),
        handler: async (request, reply) => {
          const { plan, mailSetupLink, ...input } = request.body
          const { accounts, setupLinks } = actionsOf(request)
          // Before anything is created.
          if (mailSetupLink && !setupLinks.canMail) throw new GatehouseError('mail-unavailable')
          const created = await accounts.create({ ...input, plan: plan ?? undefined })
          const { id } = created.account
          const recordWhy = (reason: string) => recordReason(arrivalOf(request.raw).outcome, reason)
          const link = hasSetupLinks
            ? await tryCreateSetupLink(setupLinks, id, recordWhy, { isMailed: mailSetupLink })
            : undefined
          reply.code(201).header('Location', `/api/v1/admin/accounts/${id}`)
          return createdData(created, typeof link === 'object' ? link.url : undefined)
        },
      }),
    },
    '/api/v1/admin/accounts/:id': {
      GET: operation({
        id: 'getAccount',
        summary: 'Shows an account.',
        responses: { 200: { description: 'The account.', schema: account } },
        problems: ['request-invalid', 'account-not-found'],
        handler: async (request) => accountData(await actionsOf(request).accounts.get(idOf(request))),
      }),
      PATCH: operation({
        id: 'updateAccount',
        summary: 'Changes an account.',
        description: 'Changing the role revokes access tokens; disabling the account ends its sessions.',
        body: accountChanges,
        responses: { 200: { description: 'The updated account.', schema: account } },
        problems: ['request-invalid', 'account-not-found', 'account-exists', 'own-account', 'last-admin'],
        findErrors: (request, members) => findMemberErrors(members, actionsOf(request)),
        handler: async (request) => {
          const { disabled, plan, ...changes } = request.body
          const given = {
            ...changes,
            ...(disabled !== undefined && { isDisabled: disabled }),
            ...(plan !== undefined && { plan: plan ?? undefined }),
          }
          const { accounts } = await actionsWithoutPassword(request)
          return accountData(await accounts.update(idOf(request), given))
        },
      }),
      DELETE: operation({
        id: 'deleteAccount',
        summary: 'Deletes an account; its keys, tokens and sessions are revoked.',
        responses: { 204: { description: 'Deleted.' } },
        problems: ['request-invalid', 'account-not-found', 'own-account', 'last-admin'],
        handler: async (request, reply) => {
          await actionsOf(request).accounts.remove(idOf(request))
          reply.code(204)
        },
      }),
    },
    '/api/v1/admin/accounts/:id/second-factor': {
      DELETE: operation({
        id: 'resetSecondFactor',
        summary: 'Removes the second factor of somebody who has lost it, and the recovery codes.',
        responses: { 204: { description: 'Removed, or there was none.' } },
        problems: ['request-invalid', 'account-not-found', 'own-account'],
        handler: async (request, reply) => {
          await actionsOf(request).resetSecondFactor(idOf(request))
          reply.code(204)
        },
      }),
    },
  } satisfies Partial<AdminOperations>
}
