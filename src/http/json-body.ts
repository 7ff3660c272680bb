import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type FieldError, GatehouseError } from '../errors.ts'
import { sendProblem } from './problem.ts'

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
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: jsonBytesMax }, (request, bytes, done) => {
    const { 'content-type': type, 'content-encoding': encoding } = request.headers
    if (bytes.length === 0) return done(null, {})
    if (encoding !== undefined || type === undefined || !jsonType.test(type)) {
      return done(new GatehouseError('media-type-unsupported'))
    }
    const text = decode(bytes)
    if (text === undefined) return done(notJson())
    parseJson(request, text, (cause, value: unknown) => {
      if (cause) done(notJson())
      else done(null, value)
    })
  })
  limitBodies(app, timeoutMs)
}

/**
 * Bodies are no larger than their route takes, and arrive in time.
 * @param timeoutMs how long a body may take
 */
export function limitBodies(app: FastifyInstance, timeoutMs: number): void {
  // A client that asked first is told to go on: who may call here is decided by what the body says.
  app.addHook('preParsing', (request, reply, _payload, done) => {
    const bytesMax = request.routeOptions.bodyLimit ?? jsonBytesMax
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
      done(new GatehouseError('body-too-large'))
      return
    }
    if (request.headers.expect !== undefined) reply.raw.writeContinue()
    limitTime(request, reply, timeoutMs)
    done()
  })
}

function limitTime({ raw: request }: FastifyRequest, reply: FastifyReply, timeoutMs: number): void {
  if (request.complete) return
  const timer = setTimeout(() => {
    if (reply.sent) return
    reply.hijack()
    reply.raw.shouldKeepAlive = false
    sendProblem(request, reply.raw, new GatehouseError('request-timeout'))
  }, timeoutMs)
  for (const end of ['close', 'end', 'error']) request.once(end, () => clearTimeout(timer))
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a body; undefined where it is not UTF-8, which would be read as what it is not. */
function decode(bytes: string | Buffer): string | undefined {
  try {
    return typeof bytes === 'string' ? bytes : utf8.decode(bytes)
  } catch {
    return undefined
  }
}

function notJson(): GatehouseError {
  return new GatehouseError('request-invalid', { detail: 'The body is not valid JSON in UTF-8.' })
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
