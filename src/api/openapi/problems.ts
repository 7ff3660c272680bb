import { type ErrorCode, type ErrorDefinition, errorDefinitions } from '#platform/errors/codes.ts'
import { keysOf } from '#platform/json.ts'
import { type JsonSchema, objectSchema, text } from '#platform/json-schema.ts'
import type { OperationDoc } from '../operation.ts'

/** The codes that operations need not name, by the operations that can answer with them. */
const sharedCodes = Map.groupBy(keysOf(errorDefinitions), (code) => definitionOf(code).operations)

function definitionOf(code: ErrorCode): ErrorDefinition {
  return errorDefinitions[code]
}

function sharedBy(operations: NonNullable<ErrorDefinition['operations']>): readonly ErrorCode[] {
  return sharedCodes.get(operations) ?? []
}

/** The schema of every error response (RFC 9457). */
export const problemSchema: JsonSchema = {
  type: 'object',
  properties: {
    type: { type: 'string', pattern: '^urn:gatehouse:' },
    title: text,
    status: { type: 'integer' },
    code: { enum: Object.keys(errorDefinitions) },
    detail: text,
    requestId: text,
    errors: {
      type: 'array',
      items: objectSchema({ field: text, message: text }),
    },
  },
  required: ['type', 'title', 'status', 'code', 'requestId'],
  additionalProperties: false,
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
