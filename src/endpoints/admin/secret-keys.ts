import { createdKeyData, secretKeyData } from '../../accounts/account-data.ts'
import type { SecretKeyInput } from '../../accounts/key-input.ts'
import { invalidField } from '../../errors/gatehouse-error.ts'
import { parseTime } from '../../platform/time.ts'
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
      handler: async (request, reply) => {
        // The cast is sound: the schema has validated it.
        const { name, scopes, addresses, ...expiry } = request.body as NewKey
        const id = idOf(request)
        const input = { name, scopes, addresses, expiresAt: readExpiry(expiry, clock()) }
        const { secretKeys } = await actionsToChange(request)
        const secretKey = await secretKeys.create(id, input)
        reply.code(201).header('Location', `/api/v1/admin/accounts/${id}/keys/${name}`)
        return createdKeyData(secretKey, input)
      },
    },
  }
}

function readExpiry(
  { expiresAt, expiresInSeconds }: Pick<NewKey, 'expiresAt' | 'expiresInSeconds'>,
  now: number,
): number | undefined {
  if (expiresInSeconds !== undefined) {
    if (expiresAt !== undefined) throw invalidField('expiresInSeconds', 'must not come with expiresAt')
    return now + expiresInSeconds * 1_000
  }
  if (expiresAt === undefined) return undefined
  const time = parseTime(expiresAt)
  if (time === undefined) throw invalidField('expiresAt', 'must be a time such as 2030-01-31T00:00:00Z')
  return time
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
