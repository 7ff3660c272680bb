import type { FastifyRequest } from 'fastify'
import type { AccountActions } from '#accounts/account-actions.ts'
import { accountData, createdData } from '#accounts/account-data.ts'
import { type AccountInput, findInputErrors } from '#accounts/account-input.ts'
import { tryCreateSetupLink } from '#accounts/setup-links.ts'
import { recordReason } from '#gateway/gate/outcome.ts'
import { arrivalOf } from '#gateway/server/arrival.ts'
import type { Clock } from '#platform/clock.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { AccountChanges } from '#store/accounts.ts'
import type { AdminOperations } from '../operation.ts'
import { account, accountChanges, createdAccount, newAccount, pageSchema, searchQuery } from './schemas.ts'

/** What the admin API's operations need. */
export interface AdminOperationOptions {
  /** Account actions on behalf of the calling Admin, who is named in the audit log. */
  actionsOf(request: FastifyRequest): AccountActions
  /**
   * The same for what the portal asks the password for on one's own account: refused there to who is signed in by the
   * portal's form, so that a script of a page cannot do with its cookie what it cannot do in the portal.
   * @throws GatehouseError `own-account`
   */
  actionsToChange(request: FastifyRequest): Promise<AccountActions>
  /** Whether new accounts get a set-up link. */
  readonly hasSetupLinks: boolean
  readonly clock: Clock
}

/** The query of a list page, as validated by its schema. */
export interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

/** The ID of the account in a path. @throws GatehouseError `account-not-found` for an e-mail, which no URL should hold */
export function idOf({ params }: FastifyRequest): string {
  // The cast is sound: the path has this parameter.
  const { id } = params as { readonly id: string }
  if (id.includes('@')) throw new GatehouseError('account-not-found')
  return id
}

/** The errors of members that match their schemas: of a new account, or of changes. */
function findMemberErrors(members: Readonly<Record<string, unknown>>, { accounts }: AccountActions) {
  // The cast is sound: they match.
  const { plan, ...others } = members as Omit<Partial<AccountInput>, 'plan'> & {
    readonly plan?: string | null
  }
  return findInputErrors({ ...others, plan: plan ?? undefined }, accounts.planNames)
}

/** Operations on all accounts. */
export function accountsOperations({
  actionsOf,
  hasSetupLinks,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts'> {
  return {
    GET: {
      id: 'listAccounts',
      summary: 'Lists accounts, or searches them.',
      description:
        'Newest first; the results of a search come in the order of an index, on pages that may be short even where there is a next one.',
      query: searchQuery,
      responses: { 200: { description: 'A page of accounts.', schema: pageSchema(account) } },
      problems: ['request-invalid'],
      handler: async (request) => {
        // The cast is sound: the schema has validated it, and fills in the limit.
        const { q = '', cursor, limit } = request.query as PageQuery & { readonly q?: string }
        const page = await actionsOf(request).search.page({ query: q, cursor, limit })
        return { items: page.items.map(accountData), nextCursor: page.nextCursor ?? null }
      },
    },
    POST: {
      id: 'createAccount',
      summary: 'Creates an account with its keys, which are shown only once.',
      description:
        '`setupUrl` is absent without a portal, or if the link could not be created: the account is created all the same, and the portal or `gatehouse accounts setup-link` creates a link later.',
      body: newAccount,
      responses: {
        201: { description: 'The account, with its keys.', schema: createdAccount, headers: ['Location'] },
      },
      problems: ['request-invalid', 'account-exists', 'mail-unavailable'],
      findErrors: (request, members) => findMemberErrors(members, actionsOf(request)),
      handler: async (request, reply) => {
        // The cast is sound: the schema has validated it, and fills in defaults.
        const { plan, mailSetupLink, ...input } = request.body as Omit<AccountInput, 'plan'> & {
          readonly plan?: string | null
          readonly mailSetupLink: boolean
        }
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
        return createdData(created, link?.url)
      },
    },
  }
}

/** Operations on one account. */
export function accountOperations({
  actionsOf,
  actionsToChange,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id'> {
  return {
    GET: {
      id: 'getAccount',
      summary: 'Shows an account.',
      responses: { 200: { description: 'The account.', schema: account } },
      problems: ['account-not-found'],
      handler: async (request) => accountData(await actionsOf(request).accounts.find(idOf(request))),
    },
    PATCH: {
      id: 'updateAccount',
      summary: 'Changes an account.',
      description: 'Changing the role revokes access tokens; disabling the account ends its sessions.',
      body: accountChanges,
      responses: { 200: { description: 'The updated account.', schema: account } },
      problems: ['request-invalid', 'account-not-found', 'account-exists', 'own-account', 'last-admin'],
      findErrors: (request, members) => findMemberErrors(members, actionsOf(request)),
      handler: async (request) => {
        // The cast is sound: the schema has validated it.
        const { disabled, plan, ...changes } = request.body as Omit<AccountChanges, 'isDisabled' | 'plan'> & {
          readonly disabled?: boolean
          readonly plan?: string | null
        }
        const given = {
          ...changes,
          ...(disabled !== undefined && { isDisabled: disabled }),
          ...(plan !== undefined && { plan: plan ?? undefined }),
        }
        const { accounts } = await actionsToChange(request)
        return accountData(await accounts.update(idOf(request), given))
      },
    },
    DELETE: {
      id: 'deleteAccount',
      summary: 'Deletes an account; its keys, tokens and sessions are revoked.',
      responses: { 204: { description: 'Deleted.' } },
      problems: ['account-not-found', 'own-account', 'last-admin'],
      handler: async (request, reply) => {
        await actionsOf(request).accounts.remove(idOf(request))
        reply.code(204)
      },
    },
  }
}

export function secondFactorOperations({
  actionsOf,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id/second-factor'> {
  return {
    DELETE: {
      id: 'resetSecondFactor',
      summary: 'Removes the second factor of somebody who has lost it, and the recovery codes.',
      responses: { 204: { description: 'Removed, or there was none.' } },
      problems: ['request-invalid', 'account-not-found', 'own-account'],
      handler: async (request, reply) => {
        await actionsOf(request).resetSecondFactor(idOf(request))
        reply.code(204)
      },
    },
  }
}
