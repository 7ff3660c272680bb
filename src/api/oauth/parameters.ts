import { URLSearchParams } from 'node:url'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { scopePattern, scopesMax } from '#accounts/keys/input.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { jsonBytesMax, limitBodies } from '../json-body.ts'
import { OAuthError } from './oauth-error.ts'

/** The parameters of a request, by name; those without a value are left out (RFC 6749 3.2). */
export type Parameters = ReadonlyMap<string, string>

const formType = /^application\/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?;?$/i
/** More than any request has: each costs more than its bytes. */
const parametersMax = 100

/**
 * Accepts forms only, in UTF-8 and without a content coding; all others are refused before a byte of them is read.
 * @param timeoutMs how long a body may take to arrive
 */
export function acceptFormsOnly(app: FastifyInstance, timeoutMs: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: jsonBytesMax }, (request, text, done) => {
    done(text === '' ? null : (refusalOf(request) ?? null), text)
  })
  limitBodies(app, timeoutMs, (request) => {
    const { 'content-length': length = 0, 'transfer-encoding': coding } = request.headers
    return Number(length) > 0 || coding !== undefined ? refusalOf(request) : undefined
  })
}

function refusalOf({ headers }: FastifyRequest): GatehouseError | undefined {
  const { 'content-type': type = '', 'content-encoding': coding } = headers
  if (coding === undefined && formType.test(type)) return undefined
  return new GatehouseError('media-type-unsupported', {
    detail: 'Send Content-Type: application/x-www-form-urlencoded, without a Content-Encoding.',
  })
}

/** @throws OAuthError `invalid_request` where a parameter comes twice, or there are too many */
export function readParameters({ body }: FastifyRequest): Parameters {
  return parseParameters(typeof body === 'string' ? body : '')
}

/**
 * The same for any text in the form, such as a query.
 * @throws OAuthError `invalid_request` where a parameter comes twice, or there are too many
 */
export function parseParameters(text: string): Parameters {
  if (text.split('&', parametersMax + 1).length > parametersMax)
    throw new OAuthError('invalid_request', 'There are too many parameters.')
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (found.has(name)) throw new OAuthError('invalid_request', 'A parameter was sent more than once.')
    found.set(name, value)
  }
  return new Map([...found].filter(([, value]) => value !== ''))
}

/** @throws OAuthError `invalid_request` where it is missing */
export function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (value === undefined) throw new OAuthError('invalid_request', `${name} is missing.`)
  return value
}

const pattern = new RegExp(scopePattern)

/** The scopes that a client asks for (RFC 6749 3.3); undefined = it names none. @throws OAuthError `invalid_scope` */
export function readScopes(parameters: Parameters): readonly string[] | undefined {
  const text = parameters.get('scope')
  if (text === undefined) return undefined
  const scopes = [...new Set(text.split(' '))]
  if (scopes.length > scopesMax || !scopes.every((scope) => pattern.test(scope)))
    throw new OAuthError(
      'invalid_scope',
      `scope must be at most ${scopesMax} names, separated by single spaces.`,
    )
  return scopes
}
