import type { FastifyError, FastifyInstance } from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { createProblem } from '#gateway/refusals/send-problem.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { applyReplyKeepAlive } from '../replies.ts'
import { translateError } from '../validate-with-schemas.ts'

/**
 * The errors of RFC 6749 5.2, RFC 7009 2.2.1, RFC 7591 3.2.2 and RFC 9449 5; `insufficient_scope` (RFC 6750 3.1) is for
 * callers with a token.
 */
type OAuthErrorName =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'unsupported_token_type'
  | 'insufficient_scope'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'invalid_dpop_proof'
  | 'use_dpop_nonce'
  | 'temporarily_unavailable'
  | 'server_error'

/** A request that is wrong in a way that only OAuth has a name for. */
export class OAuthError extends GatehouseError {
  readonly error: OAuthErrorName

  /** @param code for the log */
  constructor(error: OAuthErrorName, detail: string, code: ErrorCode = 'request-invalid') {
    super(code, { detail })
    this.error = error
  }
}

interface OAuthAnswerOptions {
  /** `WWW-Authenticate` of every 401; undefined = none, as clients have no secret. */
  readonly challenge?: string
  /** What a malformed request is called. Default: `invalid_request` */
  readonly invalidRequest?: OAuthErrorName
}

/** Answers every error of a scope in the form of OAuth, whatever its cause. */
export function answerOAuthErrors(scope: FastifyInstance, options: OAuthAnswerOptions = {}): void {
  const { challenge, invalidRequest = 'invalid_request' } = options
  scope.setErrorHandler<FastifyError>((error, request, reply) => {
    if (reply.sent) return reply
    const arrival = arrivalOf(request.raw)
    const refusal = translateError(error)
    const { headers } = createProblem(arrival, refusal)
    const { status, body } = toOAuthProblem(refusal, arrival.outcome.access !== undefined)
    applyReplyKeepAlive(request, reply)
    const { 'WWW-Authenticate': own = [], ...others } = headers
    // A set: if `keys.accept` has basic, the challenges of the gate include the same one.
    const challenges = new Set([
      ...(status === 401 && challenge !== undefined ? [challenge] : []),
      ...(arrival.outcome.access ? own : []),
    ])
    const named = body.error === 'invalid_request' ? { ...body, error: invalidRequest } : body
    return reply
      .code(status)
      .headers({ ...others, 'Content-Type': 'application/json' })
      .headers(challenges.size > 0 ? { 'WWW-Authenticate': [...challenges] } : {})
      .send(JSON.stringify(named))
  })
}

interface OAuthProblem {
  readonly status: number
  readonly body: { readonly error: OAuthErrorName; readonly error_description?: string }
}

const names: Partial<Record<ErrorCode, OAuthErrorName>> = {
  'request-invalid': 'invalid_request',
  'media-type-unsupported': 'invalid_request',
  'credentials-ambiguous': 'invalid_request',
  'cross-site-request': 'invalid_request',
  'credentials-missing': 'invalid_client',
  'credentials-invalid': 'invalid_client',
  'secret-key-expired': 'invalid_client',
  'secret-key-invalid': 'invalid_client',
  'scheme-not-accepted': 'invalid_client',
  'token-invalid': 'invalid_client',
  'token-expired': 'invalid_client',
  'token-revoked': 'invalid_client',
  'account-disabled': 'unauthorized_client',
  'address-forbidden': 'unauthorized_client',
  'scope-forbidden': 'invalid_scope',
  'refresh-token-invalid': 'invalid_grant',
  'refresh-token-expired': 'invalid_grant',
  'refresh-token-reused': 'invalid_grant',
  'session-revoked': 'invalid_grant',
  'proof-missing': 'invalid_client',
  'certificate-required': 'invalid_client',
  'certificate-unknown': 'invalid_client',
  'proof-invalid': 'invalid_dpop_proof',
  'proof-nonce-required': 'use_dpop_nonce',
}

/** Statuses that say more than 400 would. All other mistakes of clients become 400. */
const kept: ReadonlySet<number> = new Set([405, 408, 413, 429, 431])
const invalidClientStatus = 401
const forbiddenStatus = 403

/**
 * @param isAdmission whether the gate decided about the caller, as on a route: its 403 and 401 then keep their meaning
 */
function toOAuthProblem(error: GatehouseError, isAdmission: boolean): OAuthProblem {
  const { status } = error
  const name = error instanceof OAuthError ? error.error : nameOf(error, isAdmission)
  if (name === 'invalid_client') return { status: invalidClientStatus, body: bodyOf(name, error) }
  if (name === 'insufficient_scope') return { status: forbiddenStatus, body: bodyOf(name, error) }
  return { status: status >= 500 || kept.has(status) ? status : 400, body: bodyOf(name, error) }
}

function nameOf({ code, status }: GatehouseError, isAdmission: boolean): OAuthErrorName {
  if (isAdmission && status === forbiddenStatus) return 'insufficient_scope'
  // The challenge says what is wrong with the proof of a caller with a token.
  if (isAdmission && status === invalidClientStatus) return 'invalid_client'
  const name = names[code]
  if (name !== undefined) return name
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** What a client is told about a wrong pair of keys. */
const clientWrong = 'client_id must be the API key and client_secret a secret key of the same account.'

function bodyOf(error: OAuthErrorName, { code, detail, errors }: GatehouseError): OAuthProblem['body'] {
  const fields = errors
    ?.filter(({ field }) => field !== 'request')
    .map(({ field, message }) => `${field} ${message}`)
  const text = code === 'credentials-invalid' ? clientWrong : detail
  const description = fields && fields.length > 0 ? fields.join('; ') : text
  return description === undefined ? { error } : { error, error_description: plain(description) }
}

/** The characters that RFC 6749 5.2 allows. */
function plain(text: string): string {
  return text.replaceAll(/[^ !#-[\]-~]/g, "'")
}
