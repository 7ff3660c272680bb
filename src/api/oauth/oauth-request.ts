import { URLSearchParams } from 'node:url'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { scopePattern, scopesMax } from '#accounts/keys/input.ts'
import { arrivalOf, visitorOf } from '#gateway/arrival/endpoint-arrival.ts'
import { createOriginRule, type OriginRuleOptions } from '#gateway/browser/ambient-credentials.ts'
import { createBrowserFieldReader } from '#gateway/browser/browser-fields.ts'
import { valuesOf } from '#http/request-head.ts'
import type { ClientTokens } from '#identity/tokens/client-tokens.ts'
import type { KeyPairOwner } from '#identity/tokens/session-start.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { schemePrefix } from '#platform/http.ts'
import { parseKey } from '#platform/secrets/keys.ts'
import { limitBodies, ownBodyBytesMax } from '../bodies.ts'
import { createFailedKeyPairCount, type FailedKeyPairOptions } from '../token-endpoints.ts'
import { OAuthError } from './oauth-error.ts'

/** A client, which names itself by its API key, and authenticates by a secret key. */
interface Client {
  readonly apiKey: string
  /** undefined = it does not authenticate: a public client (RFC 6749 2.1). */
  readonly secretKey: string | undefined
}

/** Finds the clients of requests: each is an account, named by both of its keys. */
export interface Clients {
  readonly read: ReadClient
  /** @throws GatehouseError if the keys are wrong, or there is no secret key */
  ownerOf(request: FastifyRequest, client: Client): Promise<KeyPairOwner>
  /** The account of a client. Without a secret key it is the one that the API key names, which is not checked. */
  accountIdOf(request: FastifyRequest, client: Client | undefined): Promise<string | undefined>
  /** Counts a wrong pair. @throws the error, or `too-many-failures` */
  readonly countFailed: ReturnType<typeof createFailedKeyPairCount>
}

export interface ClientsOptions extends FailedKeyPairOptions, OriginRuleOptions {
  readonly clientTokens: Pick<ClientTokens, 'findOwner'>
}

export function createClients(options: ClientsOptions): Clients {
  const { clientTokens } = options
  const countFailed = createFailedKeyPairCount(options)

  function ownerOf(request: FastifyRequest, { apiKey, secretKey }: Client): Promise<KeyPairOwner> {
    if (secretKey === undefined)
      throw new GatehouseError('credentials-missing', { detail: 'client_secret is missing.' })
    return clientTokens
      .findOwner({ apiKey, secretKey }, visitorOf(request.raw))
      .catch((error: unknown) => countFailed(request, error))
  }

  async function accountIdOf(
    request: FastifyRequest,
    client: Client | undefined,
  ): Promise<string | undefined> {
    if (client === undefined) return undefined
    if (client.secretKey === undefined) return parseKey('apiKey', client.apiKey)?.accountId
    return (await ownerOf(request, client)).account.id
  }

  return { read: createClientReader(options), ownerOf, accountIdOf, countFailed }
}

/**
 * The client of a request (RFC 6749 2.3.1), by Basic or in the body; undefined where it names none.
 * @throws GatehouseError `credentials-invalid` for a malformed one, `cross-site-request` for a page of another origin;
 *   OAuthError `invalid_request` where it is named in two ways
 */
type ReadClient = (request: FastifyRequest, parameters: Parameters) => Client | undefined

const basicScheme = schemePrefix('Basic')

function createClientReader(options: OriginRuleOptions): ReadClient {
  const readBrowserFields = createBrowserFieldReader(undefined)
  const checkOrigin = createOriginRule(options)

  return function readClient({ raw }, parameters) {
    const { head, client } = arrivalOf(raw)
    const [authorization = '', second] = valuesOf(head.rawHeaders, 'authorization')
    if (second !== undefined) throw new GatehouseError('credentials-ambiguous')
    const apiKey = parameters.get('client_id')
    const secretKey = parameters.get('client_secret')
    const [scheme] = basicScheme.exec(authorization) ?? []
    if (scheme === undefined) {
      if (apiKey === undefined && secretKey !== undefined)
        throw new OAuthError('invalid_request', 'client_id is missing.')
      return apiKey === undefined ? undefined : { apiKey, secretKey }
    }
    // A browser that was once given a password sends it for every page: see ambient-credentials.ts.
    const { site, origin } = readBrowserFields(head)
    if (checkOrigin({ site, origin, client }) !== undefined) throw new GatehouseError('cross-site-request')
    const basic = readBasic(authorization.slice(scheme.length).replace(/^ +/, ''))
    if (secretKey !== undefined || (apiKey !== undefined && apiKey !== basic.apiKey))
      throw new OAuthError('invalid_request', 'The client is named both in Authorization and in the body.')
    return basic
  }
}

/** Client ID and secret are form-encoded before they are joined (RFC 6749 2.3.1). */
function readBasic(encoded: string): Client {
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  if (colon === -1) throw new GatehouseError('credentials-invalid')
  return { apiKey: decode(text.slice(0, colon)), secretKey: decode(text.slice(colon + 1)) }
}

/** Many clients leave out the encoding, which changes nothing in keys of our form. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** The parameters of a request, by name; those without a value are left out (RFC 6749 3.2). */
export type Parameters = ReadonlyMap<string, string>

const formType = /^application\/x-www-form-urlencoded[ \t]*(?:;[ \t]*charset=(?:"utf-8"|utf-8)[ \t]*)?;?$/i
/** More than any request has: each parameter takes far more memory than its bytes. */
const parametersMax = 100

/**
 * Accepts forms only, in UTF-8 and without a content coding; all others are refused before a byte of them is read.
 * @param timeoutMs how long a body may take to arrive
 */
export function acceptFormsOnly(app: FastifyInstance, timeoutMs: number): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: ownBodyBytesMax }, (request, text, done) => {
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
 * Parses any text of the same form, such as a query.
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
