import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { sendProblem } from '#gateway/refusals/send-problem.ts'
import { valuesOf } from '#http/request-head.ts'
import { startDeadline } from '#platform/deadline.ts'
import { type FieldError, GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { duplicateMember, isRecord } from '#platform/json.ts'
import { hideSecrets } from '#platform/secrets/hide-secrets.ts'

/** Largest body of the gateway's own endpoints. */
export const ownBodyBytesMax = 65_536

/** Methods whose body is never read. */
const bodilessMethods: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * Accepts bodies in JSON, in UTF-8 and without a content coding; no body counts as an empty object. All others are
 * refused, and so are objects with two members of one name: another program that has checked the request may have read
 * the other member.
 * @param timeoutMs how long a body may take to arrive
 */
export function acceptJsonOnly(app: FastifyInstance, timeoutMs: number): void {
  // Drops `__proto__` and `constructor`, as unknown members are ignored, so that no code can copy them by accident.
  const parseJson = app.getDefaultJsonParser('remove', 'remove')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: ownBodyBytesMax }, (request, bytes, done) => {
    if (bytes.length === 0) return done(null, {})
    const refusal = checkMediaType(request)
    if (refusal) return done(refusal)
    // Decoding would silently replace the bytes that are not UTF-8.
    if (typeof bytes !== 'string' && !isUtf8(bytes)) return done(invalidJsonError())
    const text = bytes.toString()
    parseJson(request, text, (cause, value: unknown) => {
      if (cause) return done(invalidJsonError())
      const duplicate = duplicateMember(text)
      if (duplicate === undefined) done(null, value)
      // The name of the member may be a secret key.
      else done(invalidField(hideSecrets(duplicate), 'appears more than once'))
    })
  })
  limitBodies(app, timeoutMs, checkAnnouncedBody)
}

/** Why a body is refused before a byte of it is read. */
type HeadCheck = (request: FastifyRequest) => GatehouseError | undefined

/**
 * Refuses bodies that are larger than their route accepts, or do not arrive in time.
 * @param timeoutMs how long a body may take
 * @param checkHead a further check of the head
 */
export function limitBodies(app: FastifyInstance, timeoutMs: number, checkHead?: HeadCheck): void {
  app.addHook('preParsing', (request, reply, _payload, done) => {
    if (bodilessMethods.has(request.method)) return done()
    const bytesMax = request.routeOptions.bodyLimit ?? ownBodyBytesMax
    if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
      return done(new GatehouseError('body-too-large'))
    }
    const refusal = checkHead?.(request)
    if (refusal) return done(refusal)
    // All checks of the head are done. At some of these endpoints only the body says who is calling.
    sendContinue(request, reply, () => {
      limitBodyTime(request, reply, timeoutMs)
      done()
    })
  })
}

/** Sends 100 to a client that waits for it: not to HTTP/1.0, nor where the body is already coming (RFC 9110 10.1.1). */
function sendContinue(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { head, exchange } = arrivalOf(request.raw)
  if (!head.expectsContinue || exchange.bodyState === 'complete') {
    done()
    return
  }
  // A body that arrived together with the head is read only after the handler of the head, which may be running now.
  process.nextTick(() => {
    if (exchange.bodyState === 'pending') reply.raw.writeContinue()
    done()
  })
}

/** Why a body is refused because of its announced type; undefined where it is not. */
function checkAnnouncedBody(request: FastifyRequest): GatehouseError | undefined {
  const { 'content-length': length = 0, 'transfer-encoding': coding, expect } = request.headers
  // A chunked body may turn out to be empty, which needs no type; but no client sends Expect for an empty body.
  const isAnnounced = Number(length) > 0 || (coding !== undefined && expect !== undefined)
  return isAnnounced ? checkMediaType(request) : undefined
}

const jsonType = /^application\/json[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?;?$/i

/**
 * Why a body is refused because of its head alone; undefined where it is not.
 * @returns `request-invalid` for types that contradict each other, `media-type-unsupported` for anything but JSON
 */
function checkMediaType({ headers, raw }: FastifyRequest): GatehouseError | undefined {
  // Read from the raw fields, as Node shows only the first one.
  const types = new Set(valuesOf(raw.rawHeaders, 'content-type').map((value) => value.trim()))
  if (types.size > 1) {
    const errors = [{ field: 'Content-Type', message: 'was sent more than once, with different values' }]
    return new GatehouseError('request-invalid', { detail: 'There must be one Content-Type.', errors })
  }
  const [type] = types
  const isJson = type !== undefined && jsonType.test(type)
  return isJson && headers['content-encoding'] === undefined
    ? undefined
    : new GatehouseError('media-type-unsupported')
}

function limitBodyTime({ raw: request }: FastifyRequest, reply: FastifyReply, timeoutMs: number): void {
  if (request.complete) return
  const { clear: stop } = startDeadline(timeoutMs, () => {
    if (reply.sent) return
    reply.hijack()
    reply.raw.shouldKeepAlive = false
    sendProblem(request, reply.raw, new GatehouseError('request-timeout'))
  })
  for (const end of ['close', 'end', 'error']) request.once(end, stop)
  // The response may have ended first, such as at a shutdown.
  reply.raw.once('close', stop)
}

function invalidJsonError(): GatehouseError {
  return invalidBodyError('The body is not valid UTF-8 JSON.', 'is not valid UTF-8 JSON')
}

function invalidBodyError(detail: string, message: string): GatehouseError {
  return new GatehouseError('request-invalid', { detail, errors: [{ field: 'body', message }] })
}

/** Members of a JSON body: strings, or undefined where missing. */
type Members<Names extends string> = Readonly<Partial<Record<Names, string>>>

/**
 * Reads the string members of the JSON object that a body must be.
 * @throws GatehouseError `request-invalid` with every member that is missing or not a string
 */
export function readMembers<Required extends string, Optional extends string = never>(
  { body }: FastifyRequest,
  {
    required,
    optional = [],
  }: { readonly required: readonly Required[]; readonly optional?: readonly Optional[] },
): Readonly<Record<Required, string>> & Members<Optional> {
  const object = body === undefined ? {} : body
  if (!isRecord(object)) {
    throw invalidBodyError('The body must be a JSON object.', 'must be a JSON object')
  }
  // Only these are read: a body may have thousands of others.
  const names = [...required, ...optional].filter((name) => Object.hasOwn(object, name))
  const errors: FieldError[] = [
    ...required
      .filter((name) => !Object.hasOwn(object, name))
      .map((field) => ({ field, message: 'is missing' })),
    ...names.flatMap((field) => {
      const value = object[field]
      return typeof value === 'string' && value !== ''
        ? []
        : [{ field, message: 'must be a non-empty string' }]
    }),
  ]
  if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
  // The cast is sound: each required member was found to be a string, each optional one to be a string or absent.
  return Object.fromEntries(names.map((name) => [name, object[name]])) as Readonly<Record<Required, string>> &
    Members<Optional>
}
