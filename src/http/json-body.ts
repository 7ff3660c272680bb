import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type FieldError, GatehouseError } from '../errors.ts'
import { answerBrokenRequest } from './broken-request.ts'

/** Largest body of the endpoints of the gateway itself. */
export const jsonBytesMax = 65_536

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?;?$/i

/**
 * Bodies are JSON in UTF-8, not encoded; none at all is an empty object. Whatever else comes is refused.
 * @param timeoutMs how long a body may take to arrive
 */
export function acceptJsonOnly(app: FastifyInstance, timeoutMs: number): void {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: jsonBytesMax }, (request, text, done) => {
    const { 'content-type': type, 'content-encoding': encoding } = request.headers
    if (text.length === 0) return done(null, {})
    if (encoding !== undefined || type === undefined || !jsonType.test(type)) {
      return done(new GatehouseError('media-type-unsupported'))
    }
    parseJson(request, String(text), (cause, value: unknown) => {
      if (cause) done(new GatehouseError('request-invalid', { detail: 'The body is not valid JSON.' }))
      else done(null, value)
    })
  })
  // A client that asked first is told to go on: who may call here is decided by what the body says.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (request.headers.expect !== undefined) reply.raw.writeContinue()
    limitTime(request.raw, timeoutMs)
    done()
  })
}

function limitTime(request: IncomingMessage, timeoutMs: number): void {
  if (request.complete) return
  const timer = setTimeout(
    () => answerBrokenRequest(request.socket, new GatehouseError('request-timeout')),
    timeoutMs,
  )
  request.once('close', () => clearTimeout(timer))
  request.once('end', () => clearTimeout(timer))
}

/** A member of a JSON body: its text, or undefined where it is not there. */
export type Members<Names extends string> = Readonly<Partial<Record<Names, string>>>

/**
 * Reads text members of the JSON object that a body must be.
 * @throws GatehouseError `request-invalid` with every member that is missing or no text
 */
export function readMembers<Required extends string, Optional extends string = never>(
  { body }: FastifyRequest,
  {
    required,
    optional = [],
  }: { readonly required: readonly Required[]; readonly optional?: readonly Optional[] },
): Readonly<Record<Required, string>> & Members<Optional> {
  const object = body === undefined ? {} : body
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw new GatehouseError('request-invalid', { detail: 'The body must be a JSON object.' })
  }
  const values = new Map<string, unknown>(Object.entries(object))
  const errors: FieldError[] = [
    ...required.filter((name) => !values.has(name)).map((field) => ({ field, message: 'is missing' })),
    ...[...required, ...optional].flatMap((field) => {
      const value = values.get(field)
      if (!values.has(field)) return []
      return typeof value === 'string' && value !== ''
        ? []
        : [{ field, message: 'must be a text that is not empty' }]
    }),
  ]
  if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
  // The cast is sound: each required member was found to be a text, each optional one to be a text or absent.
  return Object.fromEntries(values) as Readonly<Record<Required, string>> & Members<Optional>
}
