import type { FastifyError, FastifyInstance } from 'fastify'
import { arrivalOf } from '#gateway/arrival/arrival.ts'
import { createProblem } from '#gateway/refusals/send-problem.ts'
import { applyReplyKeepAlive } from '../reply.ts'
import { translateError } from '../validate-with-schemas.ts'
import { type OAuthErrorName, toOAuthProblem } from './oauth-error.ts'

interface OAuthAnswerOptions {
  /** `WWW-Authenticate` of every 401; undefined = none, as clients have no secret. */
  readonly challenge?: string
  /** What a malformed request is called. Default: `invalid_request` */
  readonly invalidRequest?: OAuthErrorName
}

/** Answers every error of a scope as one of OAuth, whatever its cause. */
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
    // Where `keys.accept` has basic, the caller's own challenges name it too.
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
