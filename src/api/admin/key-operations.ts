import { boundCertificateData, createdKeyData, secretKeyData } from '#accounts/account-data.ts'
import {
  addressesMax,
  findKeyErrors,
  graceSecondsMax,
  keyLifetimeMsMax,
  keyLimitSchemas,
  keyName,
  keyQuota,
  keyQuotaOrNull,
  type SecretKeyInput,
  scopesMax,
} from '#accounts/keys/input.ts'
import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import {
  emptyObject,
  flag,
  objectSchema,
  text,
  textOrNull,
  time,
  timeOrNull,
  type Value,
} from '#platform/json-schema.ts'
import { type EpochMs, parseTime, timeRule } from '#platform/time.ts'
import { type AdminOperations, operation } from '../operation.ts'
import { type AdminOperationOptions, idOf, pageSchema } from './admin-request.ts'

export const keyItem = objectSchema({
  name: text,
  lastFour: { ...textOrNull, description: 'The last four characters of the key; null = not stored.' },
  state: { enum: ['valid', 'expired'] },
  ...keyLimitSchemas,
  quota: keyQuotaOrNull,
  createdAt: time,
  expiresAt: { ...timeOrNull, description: 'null = it does not expire.' },
  revokedAt: { ...timeOrNull, description: 'The end of its grace period; null = it is not revoked.' },
  lastUsedAt: { ...timeOrNull, description: 'Accurate to a few seconds; null = never.' },
  lastUsedFrom: textOrNull,
  imported: { ...flag, description: 'Whether the key was made elsewhere.' },
})

export const newKey = objectSchema(
  { name: keyName },
  {
    scopes: { ...keyLimitSchemas.scopes, maxItems: scopesMax, default: [] },
    addresses: { ...keyLimitSchemas.addresses, maxItems: addressesMax, default: [] },
    quota: keyQuota,
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
    certificate: {
      ...text,
      description:
        'PEM of a certificate, or its SHA-256 in hexadecimal, to use as the key, instead of a new one; the key expires with the certificate at the latest. `keys.accept` must name certificate.',
    },
  },
)

export const createdKey = objectSchema(
  { name: text, ...keyLimitSchemas, quota: keyQuotaOrNull, expiresAt: timeOrNull },
  {
    secretKey: { ...text, description: 'Absent = the certificate is the key.' },
    certificate: objectSchema({
      subject: text,
      sha256: { ...text, description: 'Of the DER, in hexadecimal.' },
      validTo: timeOrNull,
    }),
  },
)

function graceSchema(description: string) {
  const graceSeconds = {
    type: 'integer',
    minimum: 0,
    maximum: graceSecondsMax,
    default: 0,
    description,
  } as const
  return objectSchema({}, { graceSeconds })
}

export const secretKeyReset = graceSchema(
  'How long the old key keeps working. Its sessions continue with the new key, also afterwards; 0 ends the key, its sessions and its access tokens at once.',
)

const keyRevocation = graceSchema(
  'How long the key keeps working, unless it expires or was to end earlier; 0 ends the key, its sessions and its access tokens at once.',
)

export const secretKey = objectSchema({ secretKey: text })
export const apiKey = objectSchema({ apiKey: text })

export function keyOperations({ actionsOf, actionsWithoutPassword, clock }: AdminOperationOptions) {
  return {
    '/api/v1/admin/accounts/:id/secret-key': {
      POST: operation({
        id: 'resetSecretKey',
        summary: 'Replaces the secret key; the new one is shown only once.',
        body: secretKeyReset,
        isBodyOptional: true,
        responses: { 200: { description: 'The new key.', schema: secretKey } },
        problems: ['request-invalid', 'account-not-found', 'own-account'],
        handler: async (request) => {
          const { graceSeconds } = request.body
          const { defaultKeys } = await actionsWithoutPassword(request)
          return { secretKey: await defaultKeys.resetSecretKey(idOf(request), graceSeconds) }
        },
      }),
    },
    '/api/v1/admin/accounts/:id/api-key': {
      POST: operation({
        id: 'resetApiKey',
        summary:
          'Replaces the API key; the old one stops working immediately, and the new one is shown only once.',
        body: emptyObject,
        isBodyOptional: true,
        responses: { 200: { description: 'The new key.', schema: apiKey } },
        problems: ['request-invalid', 'account-not-found', 'own-account'],
        handler: async (request) => {
          const { defaultKeys } = await actionsWithoutPassword(request)
          return { apiKey: await defaultKeys.resetApiKey(idOf(request)) }
        },
      }),
    },
    '/api/v1/admin/accounts/:id/keys': {
      GET: operation({
        id: 'listKeys',
        summary: 'Lists the secret keys of an account, in the order in which they were created.',
        description: 'All of them are on one page. Revoked keys are not listed.',
        responses: { 200: { description: 'The keys.', schema: pageSchema(keyItem) } },
        problems: ['request-invalid', 'account-not-found'],
        handler: async (request) => {
          const keys = await actionsOf(request).secretKeys.list(idOf(request))
          return { items: keys.map(secretKeyData), nextCursor: null }
        },
      }),
      POST: operation({
        id: 'createKey',
        summary: 'Creates a further secret key, which is shown only once, or makes a certificate a key.',
        body: newKey,
        responses: { 201: { description: 'The new key.', schema: createdKey, headers: ['Location'] } },
        problems: ['request-invalid', 'account-not-found', 'own-account'],
        findErrors: (_request, members) => readNewKey({ ...anyKey, ...members }, clock()).errors,
        handler: async (request, reply) => {
          const { input, errors } = readNewKey(request.body, clock())
          if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
          const id = idOf(request)
          const { secretKeys } = await actionsWithoutPassword(request)
          const { certificate } = request.body
          const data =
            certificate === undefined
              ? createdKeyData(await secretKeys.create(id, input), input)
              : boundCertificateData(await secretKeys.bindCertificate(id, input, certificate))
          reply.code(201).header('Location', `/api/v1/admin/accounts/${id}/keys/${input.name}`)
          return data
        },
      }),
    },
    '/api/v1/admin/accounts/:id/keys/:name': {
      DELETE: operation({
        id: 'revokeKey',
        summary: 'Revokes a secret key with its sessions and access tokens.',
        description: 'No other key is affected. A name that no key of the account has is `request-invalid`.',
        query: keyRevocation,
        responses: { 204: { description: 'Revoked, or valid until the grace period ends at the latest.' } },
        problems: ['request-invalid', 'account-not-found'],
        handler: async (request, reply) => {
          // The cast is sound: the path has this parameter.
          const { name } = request.params as { readonly name: string }
          await actionsOf(request).secretKeys.revoke(idOf(request), name, request.query.graceSeconds)
          reply.code(204)
        },
      }),
    },
  } satisfies Partial<AdminOperations>
}

type NewKey = Value<typeof newKey>

/** Takes the place of members that do not match the schema, so that the others can be checked. */
const anyKey: NewKey = { name: 'x', scopes: [], addresses: [] }

/** The input for a new key, and the errors of all members that are wrong. */
function readNewKey(
  { name, scopes, addresses, quota, expiresAt, expiresInSeconds }: NewKey,
  now: EpochMs,
): { readonly input: SecretKeyInput; readonly errors: readonly FieldError[] } {
  const time = expiresAt === undefined ? undefined : parseTime(expiresAt)
  const end = expiresInSeconds === undefined ? time : now + expiresInSeconds * 1_000
  const input = { name, scopes, addresses, quota, expiresAt: end }
  const errors = findKeyErrors(input, now)
  if (expiresAt !== undefined && expiresInSeconds !== undefined)
    errors.push({ field: 'expiresInSeconds', message: 'must not come with expiresAt' })
  else if (expiresAt !== undefined && time === undefined)
    errors.push({ field: 'expiresAt', message: timeRule })
  return { input, errors }
}
