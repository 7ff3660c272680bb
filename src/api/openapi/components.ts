import { createdKey, keyItem, newKey } from '../admin/keys.ts'
import {
  account,
  accountChanges,
  apiKey,
  auditEntry,
  createdAccount,
  newAccount,
  secretKey,
  secretKeyReset,
  session,
} from '../admin/schemas.ts'
import { blockedSubject, subject } from '../admin/subjects.ts'
import type { JsonSchema } from '../operation.ts'
import { usageReport } from '../usage.ts'
import { type ExampleName, examples } from './examples.ts'
import {
  grantedToken,
  oauthError,
  serverMetadata,
  tokenFacts,
  tokenQuestion,
  tokenRequest,
} from './oauth-operations.ts'
import { problemSchema } from './problems.ts'
import {
  heldKey,
  issuedTokens,
  jwkSet,
  keyPair,
  refreshedTokens,
  refreshRequest,
  resourceMetadata,
} from './public-operations.ts'

/** The schemas that the document names, so that generated clients have types with these names. */
const named: Readonly<Record<ExampleName, JsonSchema>> = {
  Problem: problemSchema,
  KeyPair: keyPair,
  IssuedTokens: issuedTokens,
  RefreshRequest: refreshRequest,
  RefreshedTokens: refreshedTokens,
  TokenRequest: tokenRequest,
  GrantedToken: grantedToken,
  TokenQuestion: tokenQuestion,
  TokenFacts: tokenFacts,
  OAuthError: oauthError,
  ServerMetadata: serverMetadata,
  HeldKey: heldKey,
  JwkSet: jwkSet,
  ResourceMetadata: resourceMetadata,
  UsageReport: usageReport,
  Account: account,
  NewAccount: newAccount,
  CreatedAccount: createdAccount,
  AccountChanges: accountChanges,
  SecretKeyReset: secretKeyReset,
  SecretKeyValue: secretKey,
  ApiKeyValue: apiKey,
  SecretKey: keyItem,
  NewSecretKey: newKey,
  CreatedSecretKey: createdKey,
  Session: session,
  Subject: subject,
  BlockedSubject: blockedSubject,
  AuditEntry: auditEntry,
}

const nameOf: ReadonlyMap<unknown, string> = new Map(
  Object.entries(named).map(([name, schema]) => [schema, name]),
)

/** A schema in which each named one, wherever it stands, is a reference. */
export function withReferences(schema: JsonSchema): JsonSchema {
  // The cast is sound: only values are replaced.
  return replaceNamed(schema) as JsonSchema
}

function replaceNamed(value: unknown): unknown {
  const name = nameOf.get(value)
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
  if (Array.isArray(value)) return value.map(replaceNamed)
  if (typeof value !== 'object' || value === null) return value
  return withParts(defaultInWords(value))
}

/** Generators of clients take a member with a default for one that is always there, and ask for it in requests. */
function defaultInWords(schema: object): object {
  if (!('default' in schema && 'type' in schema)) return schema
  const { default: usual, ...others } = schema
  const words = 'description' in schema ? [schema.description] : []
  return { ...others, description: [...words, `Default: ${JSON.stringify(usual)}.`].join(' ') }
}

/** The named schemas, each with an example. */
export function componentSchemas(): Readonly<Record<string, object>> {
  // The cast is sound: the names are those of the table.
  const entries = Object.entries(named) as readonly (readonly [ExampleName, JsonSchema])[]
  return Object.fromEntries(
    entries.map(([name, schema]) => [name, { ...withParts(schema), examples: [examples[name]] }]),
  )
}

/** The schema itself in full, its parts as references. */
function withParts(schema: object): object {
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, replaceNamed(part)]))
}
