import { createdKeyData, secretKeyData } from '#accounts/account-data.ts'
import { findKeyErrors, type SecretKeyInput } from '#accounts/key-input.ts'
import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { parseTime } from '#platform/time.ts'
import type { AdminOperations } from '../operation.ts'
import { type AdminOperationOptions, idOf } from './accounts.ts'
import { createdKey, keyItem, keyRevocation, newKey } from './key-schemas.ts'
import { pageSchema } from './schemas.ts'

/** A body that its schema has validated, which fills in the lists. */
interface NewKey extends Pick<SecretKeyInput, 'name' | 'scopes' | 'addresses'> {
  readonly expiresAt?: string
  readonly expiresInSeconds?: number
}

/** Operations on the secret keys of an account. */
export function keysOperations({
  actionsOf,
  actionsToChange,
  clock,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id/keys'> {
  return {
    GET: {
      id: 'listKeys',
      summary: 'Lists the secret keys of an account, in the order in which they were created.',
      description: 'All of them are on one page. Revoked keys are not listed.',
      responses: { 200: { description: 'The keys.', schema: pageSchema(keyItem) } },
      problems: ['account-not-found'],
      handler: async (request) => {
        const keys = await actionsOf(request).secretKeys.list(idOf(request))
        return { items: keys.map(secretKeyData), nextCursor: null }
      },
    },
    POST: {
      id: 'createKey',
      summary: 'Creates a further secret key, which is shown only once.',
      body: newKey,
      responses: { 201: { description: 'The new key.', schema: createdKey, headers: ['Location'] } },
      problems: ['request-invalid', 'account-not-found', 'own-account'],
      findErrors: (_request, members) => readNewKey({ ...anyKey, ...members }, clock()).errors,
      handler: async (request, reply) => {
        // The cast is sound: the schema has validated it.
        const { input, errors } = readNewKey(request.body as NewKey, clock())
        if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
        const id = idOf(request)
        const { secretKeys } = await actionsToChange(request)
        const secretKey = await secretKeys.create(id, input)
        reply.code(201).header('Location', `/api/v1/admin/accounts/${id}/keys/${input.name}`)
        return createdKeyData(secretKey, input)
      },
    },
  }
}

/** Stands for members that do not match the schema. */
const anyKey: NewKey = { name: 'x', scopes: [], addresses: [] }

/** What a key is made from, with every member that is wrong. */
function readNewKey(
  { name, scopes, addresses, expiresAt, expiresInSeconds }: NewKey,
  now: number,
): { readonly input: SecretKeyInput; readonly errors: readonly FieldError[] } {
  const time = expiresAt === undefined ? undefined : parseTime(expiresAt)
  const end = expiresInSeconds === undefined ? time : now + expiresInSeconds * 1_000
  const input = { name, scopes, addresses, expiresAt: end }
  const errors = findKeyErrors(input, now)
  if (expiresAt !== undefined && expiresInSeconds !== undefined)
    errors.push({ field: 'expiresInSeconds', message: 'must not come with expiresAt' })
  else if (expiresAt !== undefined && time === undefined)
    errors.push({ field: 'expiresAt', message: 'must be a time such as 2030-01-31T00:00:00Z' })
  return { input, errors }
}

/** Operations on one secret key. */
export function keyOperations({
  actionsOf,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id/keys/:name'> {
  return {
    DELETE: {
      id: 'revokeKey',
      summary: 'Revokes a secret key with its sessions and access tokens.',
      description: 'No other key is affected. A name that no key of the account has is `request-invalid`.',
      query: keyRevocation,
      responses: { 204: { description: 'Revoked, or valid until the grace period ends.' } },
      problems: ['request-invalid', 'account-not-found'],
      handler: async (request, reply) => {
        // The casts are sound: the path has this parameter, and the schema fills in the grace period.
        const { name } = request.params as { readonly name: string }
        const { graceSeconds } = request.query as { readonly graceSeconds: number }
        await actionsOf(request).secretKeys.revoke(idOf(request), name, graceSeconds)
        reply.code(204)
      },
    },
  }
}
