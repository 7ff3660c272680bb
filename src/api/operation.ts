import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import {
  type AdminPath,
  allowedMethods,
  byPathAndMethod,
  type GatedPath,
  ownMethods,
  type PerOperation,
  unlistedMethod,
} from '#gateway/routes/own-operations.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { JsonSchema, Value } from '#platform/json-schema.ts'
import { toRequestInvalid, validateWithSchemas } from './validate-with-schemas.ts'

/** An operation: requests are validated against it, and the OpenAPI document is generated from it. */
export interface OperationDoc {
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** An object whose members are the parameters of the query. */
  readonly query?: JsonSchema
  readonly body?: JsonSchema
  /** Largest body; default: `jsonBytesMax`. */
  readonly bodyBytesMax?: number
  /** Whether the body is optional. */
  readonly isBodyOptional?: boolean
  /** The media type of the body; default: application/json. */
  readonly bodyType?: string
  /** All of its errors, where they are no problems (RFC 9457). */
  readonly errors?: Readonly<Record<number, ResponseDoc>>
  readonly responses: Readonly<Record<number, ResponseDoc>>
  /** Its own errors, besides those of every operation. */
  readonly problems: readonly ErrorCode[]
}

export interface ResponseDoc {
  readonly description: string
  /** Schema of the JSON body; undefined = there is no body. */
  readonly schema?: JsonSchema
  /** Other media types of the response. */
  readonly alternatives?: readonly string[]
  readonly headers?: readonly string[]
}

export interface Operation<Query = unknown, Body = unknown> extends OperationDoc {
  /**
   * What a schema cannot say of the members of a body, where others of them do not match it: so that all errors come at
   * once. Where all match, the handler finds these errors itself.
   * @param members those that match
   */
  findErrors?(request: FastifyRequest, members: Partial<Body>): readonly FieldError[]
  handler(request: ValidRequest<Query, Body>, reply: FastifyReply): Promise<unknown>
}

/** A request whose query and body match the schemas of its operation, defaults filled in. */
type ValidRequest<Query, Body> = FastifyRequest<{ readonly Querystring: Query; readonly Body: Body }>

/** An operation whose handler gets what its schemas accept. */
export function operation<const Query extends JsonSchema, const Body extends JsonSchema>(
  definition: Operation<Value<Query>, Value<Body>> & { readonly query?: Query; readonly body?: Body },
): Operation {
  return definition
}

/** The operations of the admin API, by path and method. */
export type AdminOperations = PerOperation<Operation, AdminPath>

/** Decides who may call. */
export interface Admission {
  /** Decides before a byte of the body is read. @throws GatehouseError */
  admit(request: FastifyRequest): Promise<void>
  /**
   * Decides again once the body has arrived: a caller who delayed it may be disabled by now, or have another role.
   * Nothing is counted twice. @throws GatehouseError
   */
  admitAgain(request: FastifyRequest): Promise<void>
}

/**
 * Registers operations whose callers are authenticated, in a scope of their own: they own their paths for every method,
 * and their responses are never cached.
 */
export function registerOperations<Path extends GatedPath>(
  app: FastifyInstance,
  operations: PerOperation<Operation, Path>,
  admission: Admission,
): void {
  validateWithSchemas(app)
  app.addHook('onSend', async (_request, reply) => {
    reply.header('Cache-Control', 'no-store')
  })
  for (const [url, ofPath] of byPathAndMethod(operations)) {
    for (const [method, operation] of ofPath) {
      app.route({
        url,
        method: method === 'GET' ? ['GET', 'HEAD'] : method,
        ...createRoute(operation, admission),
      })
    }
    const allow = allowedMethods(url)
    app.route({
      url,
      method: routedMethods(app, allow).filter((method) => !allow.includes(method)),
      onRequest: (_request, _reply, done) => done(new GatehouseError('method-not-allowed', { allow })),
      handler: async () => undefined,
    })
  }
}

function createRoute(
  { query, body, bodyBytesMax, isBodyOptional, findErrors, handler }: Operation,
  admission: Admission,
): Omit<RouteOptions, 'url' | 'method'> {
  return {
    onRequest: admission.admit,
    ...(bodyBytesMax !== undefined && { bodyLimit: bodyBytesMax }),
    preHandler: async (request) => {
      if (arrivalOf(request.raw).head.body.kind !== 'none') await admission.admitAgain(request)
      const { validation } = request.validationError ?? {}
      if (!validation) return
      throw toRequestInvalid(validation, (wrong) => {
        // The cast is sound: where it is no object, no member is looked at.
        const members = Object.entries(request.body as object).filter(([name]) => !wrong.has(name))
        return findErrors?.(request, Object.fromEntries(members)) ?? []
      })
    },
    attachValidation: findErrors !== undefined,
    preValidation: (request, _reply, done) => {
      if (isBodyOptional) request.body ??= {}
      done()
    },
    schema: { ...(query && { querystring: query }), ...(body && { body }) },
    handler,
  }
}

/**
 * Decorates the app of the gateway itself, which gets each method that a path does not support as `unlistedMethod`
 * (gateway/server/own-endpoints.ts). An app of somebody else gets it as it came.
 */
export const isOwnApp = 'isGatehouseItself'

/**
 * The methods for which a path is registered, which owns it for every method. No more than that takes, as each is a
 * route of its own, of 2 KiB.
 * @param supported those that it supports
 */
export function routedMethods(app: FastifyInstance, supported: readonly string[]): string[] {
  return app.hasDecorator(isOwnApp) ? [...new Set([...supported, 'HEAD', unlistedMethod])] : [...ownMethods]
}

/** The handlers of one path of the gateway itself. */
export interface OwnEndpoint {
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  /** Called before the body is read, for each request with an allowed method, whatever its outcome. */
  readonly onAccepted?: (request: FastifyRequest, reply: FastifyReply) => void
}

/** How long caches may keep what changes only with the config or the version. */
export const documentMaxAgeS = 300

/** An endpoint for what anybody may keep for some time. @param find throws where there is no such document */
export function documentEndpoint(
  find: (request: FastifyRequest) => unknown,
  maxAgeS = documentMaxAgeS,
): OwnEndpoint {
  return {
    handler: async (request, reply) => {
      const document = find(request)
      reply.header('Cache-Control', `public, max-age=${maxAgeS}`)
      return document
    },
  }
}

/**
 * Registers an endpoint, which owns its path for every method.
 * @param methods those that it supports; default: those in the table of own paths
 * @param distinguished those that the gateway does not pass on as `unlistedMethod`
 */
export function registerOwnRoute(
  app: FastifyInstance,
  path: string,
  { handler, onAccepted }: OwnEndpoint,
  methods = allowedMethods(path),
  distinguished = methods,
): void {
  app.route({
    url: path.replace(/:path$/, '*'),
    method: routedMethods(app, distinguished),
    onRequest: (request, reply, done) => {
      const isAllowed = methods.includes(request.method)
      if (isAllowed) onAccepted?.(request, reply)
      done(isAllowed ? undefined : new GatehouseError('method-not-allowed', { allow: methods }))
    },
    handler,
  })
}
