import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import {
  type AdminPath,
  allowedMethods,
  byPathAndMethod,
  type GatedPath,
  type PerOperation,
} from '#gateway/routes/own-operations.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { emptyObject, type JsonSchema, type Value } from '#platform/json-schema.ts'
import type { Admission } from './admission.ts'
import { routedMethods } from './own-endpoint.ts'
import { toRequestInvalid, validateWithSchemas } from './validate-with-schemas.ts'

/** An operation: requests are validated against it, and the OpenAPI document is generated from it. */
export interface OperationDoc {
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** An object whose members are the parameters of the query; default: there are none, and any is refused. */
  readonly query?: JsonSchema
  readonly body?: JsonSchema
  /** Largest body; default: `ownBodyBytesMax`. */
  readonly bodyBytesMax?: number
  readonly isBodyOptional?: boolean
  /** The media type of the body; default: application/json. */
  readonly bodyType?: string
  /** The error responses of an operation that does not answer with problem+json (RFC 9457). */
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
   * Finds the errors of a body that a schema cannot describe. Called only if some members do not match the schema, so
   * that one response names all errors. If all members match, the handler finds these errors itself.
   * @param members those that match
   */
  findErrors?(request: FastifyRequest, members: Partial<Body>): readonly FieldError[]
  handler(request: ValidRequest<Query, Body>, reply: FastifyReply): Promise<unknown>
}

/** A request whose query and body match the schemas of its operation, defaults filled in. */
type ValidRequest<Query, Body> = FastifyRequest<{ readonly Querystring: Query; readonly Body: Body }>

/** Defines an operation: the types of what its handler gets follow from its schemas. */
export function operation<const Query extends JsonSchema, const Body extends JsonSchema>(
  definition: Operation<Value<Query>, Value<Body>> & { readonly query?: Query; readonly body?: Body },
): Operation {
  return definition
}

/** The operations of the admin API, by path and method. */
export type AdminOperations = PerOperation<Operation, AdminPath>

/**
 * Registers operations whose callers are authenticated, in a scope of their own. Their paths answer every method, and
 * their responses are never cached.
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
  { query = emptyObject, body, bodyBytesMax, isBodyOptional, findErrors, handler }: Operation,
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
        // The cast is sound: a body that is no object has been refused before this is called.
        const members = Object.entries(request.body as object).filter(([name]) => !wrong.has(name))
        return findErrors?.(request, Object.fromEntries(members)) ?? []
      })
    },
    attachValidation: findErrors !== undefined,
    preValidation: (request, _reply, done) => {
      if (isBodyOptional) request.body ??= {}
      done()
    },
    schema: { querystring: query, ...(body && { body }) },
    handler,
  }
}
