import { desiredAccount, desiredKey, desiredState } from '#accounts/apply/desired-state.ts'
import type { JsonSchema } from '#platform/json-schema.ts'
import {
  account,
  accountChanges,
  createdAccount,
  listedAccount,
  newAccount,
} from '../admin/account-operations.ts'
import { auditEntry } from '../admin/admin-operations.ts'
import { applyResult } from '../admin/apply-operations.ts'
import {
  apiKey as apiKeyValue,
  createdKey,
  keyItem,
  newKey,
  secretKeyReset,
  secretKey as secretKeyValue,
} from '../admin/key-operations.ts'
import { session } from '../admin/session-operations.ts'
import { blockedSubject, subject } from '../admin/subject-operations.ts'
import { usageReport } from '../admin/usage-operations.ts'
import {
  grantedToken,
  oauthError,
  serverMetadata,
  tokenFacts,
  tokenQuestion,
  tokenRequest,
} from './oauth-operations.ts'
import {
  heldKey,
  issuedTokens,
  jwkSet,
  keyPair,
  problemSchema,
  refreshedTokens,
  refreshRequest,
  resourceMetadata,
} from './public-operations.ts'

const id = 'XH8KwHZWtlVZ3PDb'
const ada = {
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  role: 'User',
  isVerified: true,
}
const tokens = { access: 'eyJhbGciOiJFUzI1NiIs…', refresh: 'grt_…' }
const secretKey = 'gate_sk_XH8KwHZWtlVZ3PDb_…'
const apiKey = 'gate_ak_XH8KwHZWtlVZ3PDb_…'
const createdAt = '2026-11-01T09:30:00.000Z'
const limits = {
  scopes: ['orders:read'],
  addresses: ['203.0.113.0/24'],
  quota: { limit: 1_000, per: 'day' },
}
const corpUser = { issuer: 'corp', subject: '248289761001' } as const
const desired = { email: ada.email, role: 'User', keys: [{ name: 'ci', ...limits }] } as const

/**
 * The schemas that the document names, so that generated clients have types with these names; and an example of each.
 * Keys and tokens are cut short: no example is a credential.
 */
export const namedSchemas: Readonly<Record<string, readonly [schema: JsonSchema, example: object]>> = {
  Problem: [
    problemSchema,
    {
      type: 'urn:gatehouse:request-invalid',
      title: 'The request is invalid',
      status: 400,
      code: 'request-invalid',
      detail: 'email must be an e-mail address',
      requestId: '0f8b6c1e-5d7a-4a55-9c0e-2f5b9d1c7e31',
      errors: [{ field: 'email', message: 'must be an e-mail address' }],
    },
  ],
  KeyPair: [keyPair, { SecretKey: secretKey, APIKey: apiKey }],
  IssuedTokens: [
    issuedTokens,
    {
      Id: id,
      FirstName: 'Ada',
      LastName: 'Lovelace',
      Email: 'ada@example.com',
      Role: 'User',
      IsVerified: true,
      JwtToken: tokens.access,
      RefreshToken: tokens.refresh,
    },
  ],
  RefreshRequest: [refreshRequest, { token: tokens.refresh }],
  RefreshedTokens: [refreshedTokens, { jwtToken: tokens.access, refreshToken: tokens.refresh }],
  TokenRequest: [
    tokenRequest,
    { grant_type: 'client_credentials', client_id: apiKey, client_secret: secretKey },
  ],
  GrantedToken: [
    grantedToken,
    {
      access_token: tokens.access,
      token_type: 'Bearer',
      expires_in: 600,
      scope: 'orders:read',
    },
  ],
  TokenQuestion: [tokenQuestion, { token: tokens.access }],
  TokenFacts: [
    tokenFacts,
    { active: true, token_type: 'Bearer', sub: id, client_id: id, scope: 'orders:read' },
  ],
  OAuthError: [oauthError, { error: 'invalid_request', error_description: 'grant_type is missing.' }],
  ServerMetadata: [
    serverMetadata,
    {
      issuer: 'https://api.example.com',
      token_endpoint: 'https://api.example.com/api/v1/oauth/token',
      response_types_supported: [],
    },
  ],
  HeldKey: [heldKey, { key: secretKey }],
  JwkSet: [
    jwkSet,
    {
      keys: [{ kty: 'EC', crv: 'P-256', x: '…', y: '…', kid: 'k7wQ2v', alg: 'ES256', use: 'sig' }],
    },
  ],
  ResourceMetadata: [
    resourceMetadata,
    {
      resource: 'https://api.example.com/orders',
      authorization_servers: ['https://id.example.com'],
      scopes_supported: ['orders:read'],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: ['ES256'],
    },
  ],
  UsageReport: [
    usageReport,
    {
      plan: {
        name: 'free',
        known: true,
        quota: {
          limit: 10_000,
          per: 'month',
          used: 1_204,
          remaining: 8_796,
          resetsAt: '2026-12-01T00:00:00.000Z',
        },
        rateLimit: { limit: 60, perSeconds: 60 },
      },
      keyQuotas: [
        {
          key: 'ci',
          limit: 1_000,
          per: 'day',
          used: 12,
          remaining: 988,
          resetsAt: '2026-11-03T00:00:00.000Z',
        },
      ],
      from: '2026-11-01',
      to: '2026-11-02',
      days: [
        {
          day: '2026-11-01',
          requests: 12,
          units: 34,
          used: [{ key: 'default', route: 'orders', requests: 12, units: 34 }],
        },
      ],
    },
  ],
  Account: [account, { id, ...ada, disabled: false, plan: null, createdAt }],
  ListedAccount: [
    listedAccount,
    { id, ...ada, disabled: false, plan: null, createdAt, lastActiveOn: '2026-11-27' },
  ],
  NewAccount: [newAccount, ada],
  CreatedAccount: [
    createdAccount,
    { id, ...ada, secretKey, apiKey, setupUrl: 'https://api.example.com/portal/setup#gsl_...' },
  ],
  AccountChanges: [accountChanges, { role: 'Admin', disabled: false }],
  SecretKeyReset: [secretKeyReset, { graceSeconds: 3_600 }],
  SecretKeyValue: [secretKeyValue, { secretKey }],
  ApiKeyValue: [apiKeyValue, { apiKey }],
  SecretKey: [
    keyItem,
    {
      name: 'ci',
      lastFour: '3fZa',
      state: 'valid',
      ...limits,
      createdAt,
      expiresAt: '2027-02-01T00:00:00.000Z',
      revokedAt: null,
      lastUsedAt: '2026-11-02T08:00:00.000Z',
      lastUsedFrom: '203.0.113.7',
      imported: false,
    },
  ],
  NewSecretKey: [newKey, { name: 'ci', ...limits, expiresInSeconds: 7_776_000 }],
  CreatedSecretKey: [createdKey, { secretKey, name: 'ci', ...limits, expiresAt: '2027-02-01T00:00:00.000Z' }],
  DesiredSecretKey: [desiredKey, desired.keys[0]],
  DesiredAccount: [desiredAccount, desired],
  DesiredState: [desiredState, { accounts: [desired] }],
  ApplyResult: [
    applyResult,
    { dryRun: false, complete: true, changes: [], unchanged: 42, keys: [], failure: null },
  ],
  Session: [
    session,
    {
      id: 'q3Zr8bT1mKxW',
      createdAt,
      refreshedAt: '2026-11-01T10:00:00.000Z',
      expiresAt: '2026-12-01T09:30:00.000Z',
      refreshes: 3,
      address: '203.0.113.7',
      client: 'curl/8.14.1',
    },
  ],
  Subject: [subject, corpUser],
  BlockedSubject: [blockedSubject, { ...corpUser, id: 'corp:248289761001', blockedAt: createdAt }],
  AuditEntry: [
    auditEntry,
    {
      id: '1042',
      at: createdAt,
      channel: 'api',
      actor: 'ada@example.com',
      actorId: id,
      address: '203.0.113.7',
      action: 'secret-key-reset',
      target: 'bob@example.com',
      targetId: 'dN2vR6pYcQ0sLm4J',
      details: { graceSeconds: 3_600 },
    },
  ],
}
