import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../errors/codes.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { arrivalOf } from '../http/arrival.ts'
import { ownMethods } from './own-route.ts'

/** JSON Schema 2020-12, as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What an operation takes and answers: requests are checked against it, and the OpenAPI document is made from it. */
export interface OperationDoc {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly summary: string
  readonly description?: string
  /** Who may call it; default: anybody. */
  readonly security?: 'admin'
  /** An object whose members are the parameters of the query. */
  readonly query?: JsonSchema
  readonly body?: JsonSchema
  /** Whether the body may be left out. */
  readonly isBodyOptional?: boolean
  readonly answers: Readonly<Record<number, AnswerDoc>>
  /** Errors of its own, beside those that any operation may answer. */
  readonly problems: readonly ErrorCode[]
}

export interface AnswerDoc {
  readonly description: string
  /** Schema of the JSON body; undefined = there is no body. */
  readonly schema?: JsonSchema
  /** Other media types of the answer. */
  readonly alternatives?: readonly string[]
  readonly headers?: readonly string[]
}

export interface Operation extends OperationDoc {
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
}

/** Who may call. */
export interface Admission {
  /** Decides before a byte of the body is read. @throws GatehouseError */
  admit(request: FastifyRequest): Promise<void>
  /**
   * Decides anew once the body is there: somebody who held it back may be disabled by now, or have another role.
   * Nothing is counted a second time. @throws GatehouseError
   */
  admitAgain(request: FastifyRequest): Promise<void>
}

/** Registers the operations of a path of the gateway itself: it owns the path for every method. */
export function registerOperations(
  app: FastifyInstance,
  path: string,
  { operations, admission }: { readonly operations: readonly Operation[]; readonly admission: Admission },
): void {
  const allow = operations.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  for (const { method, query, body, isBodyOptional, handler } of operations) {
    app.route({
      url: path,
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      onRequest: admission.admit,
      preHandler: async (request) => {
        if (arrivalOf(request.raw).head.body.kind !== 'none') await admission.admitAgain(request)
      },
      preValidation: (request, _reply, done) => {
        if (isBodyOptional) request.body ??= {}
        done()
      },
      schema: { ...(query && { querystring: query }), ...(body && { body }) },
      handler,
    })
  }
  app.route({
    url: path,
    method: ownMethods.filter((method) => !allow.includes(method)),
    onRequest: (_request, _reply, done) => done(new GatehouseError('method-not-allowed', { allow })),
    handler: async () => undefined,
  })
}
