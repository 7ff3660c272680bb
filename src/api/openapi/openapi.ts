import { hash } from 'node:crypto'
import {
  byPathAndMethod,
  isGatedPath,
  type PerOperation,
  revocationsPath,
} from '#gateway/routes/own-operations.ts'
import { type Carriers, createCarriers } from '#identity/carriers.ts'
import type { JsonSchema } from '#platform/json-schema.ts'
import type { OperationDoc, ResponseDoc } from '../operation.ts'
import { documentMaxAgeS, type OwnEndpoint } from '../own-endpoint.ts'
import { jsonLine } from '../replies.ts'
import { componentSchemas, headersOf, problemResponses, withReferences } from './components.ts'

interface DocumentOptions {
  readonly version: string
  readonly publicOrigin: string
  /** How requests may carry secret keys (`keys.accept`). */
  readonly accept: readonly string[]
  readonly operations: PerOperation<OperationDoc>
  /** The path of the portal; undefined = there is none. */
  readonly portalPath: string | undefined
}

/** The OpenAPI document of the gateway's own endpoints. */
export function createApiEndpoint(options: DocumentOptions): OwnEndpoint {
  let made: { readonly body: string; readonly etag: string } | undefined
  return {
    handler: async (request, reply) => {
      // Made on first use: most gateways are never asked for it, and it takes 0.3 MiB.
      made ??= makeBody(options)
      const { body, etag } = made
      reply.headers({ 'Cache-Control': `public, max-age=${documentMaxAgeS}`, ETag: etag })
      if (matchesEtag(request.headers['if-none-match'], etag)) {
        reply.code(304)
        return undefined
      }
      reply.type('application/json; charset=utf-8')
      return body
    },
  }
}

function makeBody(options: DocumentOptions) {
  const body = jsonLine(createDocument(options))
  return { body, etag: `"${hash('sha256', body, 'base64url').slice(0, 27)}"` }
}

/** Whether If-None-Match names this ETag (RFC 9110 13.1.2). */
function matchesEtag(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false
  return condition.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))
}

/** The OpenAPI 3.1 document, from the schemas that requests are validated against. */
function createDocument({ version, publicOrigin, accept, operations, portalPath }: DocumentOptions): object {
  const securitySchemes = securitySchemesOf(createCarriers(accept))
  const security = Object.keys(securitySchemes).map((name) => ({ [name]: [] }))
  const paths = byPathAndMethod(operations).map(([path, ofPath]) => [
    path.replaceAll(/:(\w+)/g, '{$1}'),
    pathItem(path, ofPath),
  ])
  return {
    openapi: '3.1.1',
    info: {
      title: 'Gatehouse',
      version,
      description: 'The endpoints of the gateway itself; every other path is proxied.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicOrigin }],
    security,
    tags: tags.filter(({ name }) => name !== 'Portal' || portalPath !== undefined),
    paths: { ...Object.fromEntries(paths), ...(portalPath !== undefined && { [portalPath]: portalItem }) },
    components: {
      schemas: componentSchemas(),
      securitySchemes,
    },
  }
}

/** The ways to authenticate: the first header for keys is called `secretKey`, others by their names. */
function securitySchemesOf({ headers, bearer, basic }: Carriers): Readonly<Record<string, object>> {
  return {
    ...Object.fromEntries(
      headers.map((name, index) => [
        index === 0 ? 'secretKey' : `secretKey.${name.replaceAll(/[^A-Za-z0-9._-]/g, '-')}`,
        { type: 'apiKey', in: 'header', name },
      ]),
    ),
    ...(basic && {
      basic: {
        type: 'http',
        scheme: 'basic',
        description: 'The password is a secret key; the user name is ignored.',
      },
    }),
    bearer: bearer
      ? { type: 'http', scheme: 'bearer', description: 'An access token (a JWT), or a secret key.' }
      : { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  }
}

function pathItem(path: string, operations: readonly (readonly [string, OperationDoc])[]): object {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name)
  const parameters = names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  return {
    ...(parameters.length > 0 && { parameters }),
    ...Object.fromEntries(
      operations.map(([method, operation]) => [
        method.toLowerCase(),
        { tags: [tagOf(path)], ...describe(operation, isGatedPath(path)) },
      ]),
    ),
  }
}

/** @param isGated whether it needs a credential, which the document assumes unless the operation says otherwise */
function describe(operation: OperationDoc, isGated: boolean): object {
  const {
    id,
    summary,
    description,
    query,
    body,
    isBodyOptional = false,
    responses,
    errors,
    bodyType = 'application/json',
  } = operation
  return {
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    ...(!isGated && { security: [] }),
    ...(query && { parameters: parametersOf(query) }),
    ...(body && {
      requestBody: {
        required: !isBodyOptional,
        content: { [bodyType]: { schema: withReferences(body) } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries({ ...responses, ...errors }).map(([status, response]) => [
          status,
          responseOf(response),
        ]),
      ),
      ...(errors === undefined && problemResponses(operation, isGated)),
    },
  }
}

/** @param query an object schema; each member is a parameter */
function parametersOf(query: JsonSchema): readonly object[] {
  // The cast is sound: queries are created by objectSchema.
  const properties = query.properties as Readonly<Record<string, JsonSchema>>
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    ...(description !== undefined && { description }),
    schema,
  }))
}

function responseOf({ description, schema, alternatives = [], headers }: ResponseDoc): object {
  const others = alternatives.map((type) => [type, { schema: { type: 'string' } }])
  return {
    description,
    ...(headers && { headers: headersOf(headers) }),
    ...(schema && {
      content: { 'application/json': { schema: withReferences(schema) }, ...Object.fromEntries(others) },
    }),
  }
}

/** One entry for the whole portal: its pages are for people, and may change. */
const portalItem = {
  get: {
    tags: ['Portal'],
    operationId: 'getPortal',
    summary: 'The portal: pages to sign in, to reveal and reset keys, and for Admins to manage accounts.',
    security: [],
    responses: {
      200: { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } },
      303: { description: 'Redirects to the next page.', headers: headersOf(['Location']) },
      429: { description: 'Too many attempts.', content: { 'text/html': { schema: { type: 'string' } } } },
    },
  },
}

/** The groups of operations, in the order in which they are shown. */
const tags = [
  { name: 'Tokens', description: 'Access and refresh tokens for the keys of an account.' },
  { name: 'OAuth 2', description: 'The same, in the standard form that every OAuth client knows.' },
  { name: 'Keys', description: 'Revoking a leaked key.' },
  { name: 'Usage', description: "What the caller's account has used." },
  { name: 'Discovery', description: 'Public keys, metadata of resources, and this document.' },
  { name: 'Accounts', description: 'For Admins: accounts, their keys, sessions and usage.' },
  { name: 'Subjects', description: 'For Admins: blocked users of foreign issuers.' },
  { name: 'Audit', description: 'For Admins: who has done what.' },
  { name: 'Portal', description: 'Pages for people.' },
] as const

/** The groups of the gateway's own paths, by the beginning of the path; all others belong to Discovery. */
const tagsByPath = {
  '/api/v1/admin/audit': 'Audit',
  '/api/v1/admin/subjects': 'Subjects',
  '/api/v1/admin/': 'Accounts',
  '/api/v1/accounts/usage': 'Usage',
  '/api/v1/accounts/': 'Tokens',
  '/api/v1/oauth/': 'OAuth 2',
  '/api/v1/keys/': 'Keys',
  [revocationsPath]: 'Tokens',
} as const satisfies Readonly<Record<string, (typeof tags)[number]['name']>>

function tagOf(path: string): string {
  const [, tag = 'Discovery'] = Object.entries(tagsByPath).find(([start]) => path.startsWith(start)) ?? []
  return tag
}
