import { type ErrorCode, type ErrorDefinition, errorDefinitions } from '#platform/errors/codes.ts'
import { keysOf } from '#platform/json.ts'
import { type JsonSchema, text } from '#platform/json-schema.ts'
import type { OperationDoc } from '../operation.ts'
import { namedSchemas } from './named-schemas.ts'

const nameOf: ReadonlyMap<unknown, string> = new Map(
  Object.entries(namedSchemas).map(([name, [schema]]) => [schema, name]),
)

/** The schema with a reference in place of each named schema in it. */
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

/** Moves a default into the description: generators of clients would take the member for one that is always there. */
function defaultInWords(schema: object): object {
  if (!('default' in schema && 'type' in schema)) return schema
  const { default: usual, ...others } = schema
  const words = 'description' in schema ? [schema.description] : []
  return { ...others, description: [...words, `Default: ${JSON.stringify(usual)}.`].join(' ') }
}

/** The named schemas, each with an example. */
export function componentSchemas(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(namedSchemas).map(([name, [schema, example]]) => [
      name,
      { ...withParts(schema), examples: [example] },
    ]),
  )
}

/** The schema itself in full, with references in place of the named schemas in it. */
function withParts(schema: object): object {
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, replaceNamed(part)]))
}

/** The codes that operations need not name, by the operations that can answer with them. */
const sharedCodes = Map.groupBy(keysOf(errorDefinitions), (code) => definitionOf(code).operations)

function definitionOf(code: ErrorCode): ErrorDefinition {
  return errorDefinitions[code]
}

function sharedBy(operations: NonNullable<ErrorDefinition['operations']>): readonly ErrorCode[] {
  return sharedCodes.get(operations) ?? []
}

/** The error responses of an operation, by status. */
export function problemResponses(
  { body, problems }: OperationDoc,
  isAdmin: boolean,
): Readonly<Record<string, object>> {
  const codes = new Set([
    ...problems,
    ...sharedBy('all'),
    ...(body ? sharedBy('with-body') : []),
    ...(isAdmin ? sharedBy('for-admins') : []),
  ])
  const byStatus = Map.groupBy([...codes].toSorted(), (code) => errorDefinitions[code].status)
  const statuses = [...byStatus].toSorted(([a], [b]) => a - b)
  return Object.fromEntries(statuses.map(([status, ofStatus]) => [status, problemResponse(status, ofStatus)]))
}

function problemResponse(status: number, codes: readonly ErrorCode[]): object {
  const headers =
    status === 401 ? ['WWW-Authenticate'] : status === 429 || status === 503 ? ['Retry-After'] : []
  const narrowed = { properties: { status: { const: status }, code: { enum: codes } } }
  const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, narrowed] }
  return {
    description: codes.map((code) => `\`${code}\`: ${errorDefinitions[code].title}.`).join(' '),
    ...(headers.length > 0 && { headers: headersOf(headers) }),
    content: { 'application/problem+json': { schema } },
  }
}

export function headersOf(names: readonly string[]): object {
  return Object.fromEntries(
    names.map((name) => {
      const description = descriptions[name]
      return [name, { ...(description !== undefined && { description }), schema: text }]
    }),
  )
}

const descriptions: Readonly<Record<string, string>> = {
  'Set-Cookie':
    'The refresh token as a cookie; where `accessCookie` is enabled, the access token as another, which routes with `browser.cookie` take for requests of the same site (these endpoints do not). Both are cleared when the session is over.',
}
