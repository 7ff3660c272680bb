import type { AdminOperations } from '../operation.ts'
import { type AdminOperationOptions, idOf } from './accounts.ts'
import { apiKey, emptyObject, secretKey, secretKeyReset } from './schemas.ts'

export function secretKeyOperations({
  actionsToChange,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id/secret-key'> {
  return {
    POST: {
      id: 'resetSecretKey',
      summary: 'Replaces the secret key; the new one is shown only once.',
      body: secretKeyReset,
      isBodyOptional: true,
      responses: { 200: { description: 'The new key.', schema: secretKey } },
      problems: ['request-invalid', 'account-not-found', 'own-account'],
      handler: async (request) => {
        // The cast is sound: the schema has validated it, and fills in defaults.
        const { graceSeconds } = request.body as { readonly graceSeconds: number }
        const { keys } = await actionsToChange(request)
        return { secretKey: await keys.resetSecretKey(idOf(request), graceSeconds) }
      },
    },
  }
}

export function apiKeyOperations({
  actionsToChange,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id/api-key'> {
  return {
    POST: {
      id: 'resetApiKey',
      summary:
        'Replaces the API key; the old one stops working immediately, and the new one is shown only once.',
      body: emptyObject,
      isBodyOptional: true,
      responses: { 200: { description: 'The new key.', schema: apiKey } },
      problems: ['request-invalid', 'account-not-found', 'own-account'],
      handler: async (request) => {
        const { keys } = await actionsToChange(request)
        return { apiKey: await keys.resetApiKey(idOf(request)) }
      },
    },
  }
}
