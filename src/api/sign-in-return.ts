import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { arrivalOf, visitorOf } from '#gateway/arrival/endpoint-arrival.ts'
import { destinationOf, recordReason } from '#gateway/arrival/outcome.ts'
import { isPageVisit } from '#gateway/browser/sign-in-redirect.ts'
import { challengeOf, type IsReturnPath, type ReturnKeys } from '#gateway/browser/sign-in-return.ts'
import { accessCookieAttributes } from '#gateway/browser/token-cookies.ts'
import { signInReturnPath } from '#gateway/routes/own-paths.ts'
import type { SignInCodes } from '#identity/portal/sign-in-codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { TokenCookie } from '#platform/http.ts'
import { languageOf } from '#portal/portal-request.ts'
import { answerContinue, securityHeaders } from '#portal/portal-response.ts'
import { registerOwnRoute } from './own-endpoint.ts'

/** What a host of routes needs so that page visits return to it from a portal on another host. */
export interface SignInReturnOptions {
  readonly codes: Pick<SignInCodes, 'read' | 'redeem'>
  readonly keys: Pick<ReturnKeys, 'read' | 'cleared'>
  readonly accessCookie: TokenCookie
  readonly isReturnPath: IsReturnPath
}

/**
 * Sets the access cookie of this host for a code of the portal, and goes on to the page. A code that was used, has
 * expired or belongs to another browser also leads to the page, but without a cookie: the page then asks the visitor to
 * sign in.
 */
export function registerSignInReturn(scope: FastifyInstance, options: SignInReturnOptions): void {
  const { codes, keys, accessCookie, isReturnPath } = options

  async function handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const arrival = arrivalOf(request.raw)
    const { hostName } = destinationOf(arrival.outcome)
    const code = isPageVisit(arrival.head) ? codes.read(codeIn(request), hostName) : undefined
    if (!code || !isReturnPath(code.to, hostName))
      throw new GatehouseError('request-invalid', {
        detail: 'This sign-in does not belong to this host. Open the page again.',
      })
    const key = keys.read(arrival.head.rawHeaders)
    const redeemed = await codes.redeem(code, key && challengeOf(key), visitorOf(request.raw))
    if (typeof redeemed === 'string')
      recordReason(arrival.outcome, `the sign-in code is not valid: ${redeemed}`)
    else {
      const { cookieToken = '' } = redeemed
      reply.setCookie(accessCookie.name, cookieToken, accessCookieAttributes(accessCookie, cookieToken))
      reply.header('Set-Cookie', keys.cleared)
    }
    // Not a redirect but a page, which continues by itself: after a redirect from another site browsers would not send
    // a SameSite=Strict cookie. The URL of this page contains the code, which the next one must not learn
    // (Referrer-Policy).
    const { status, headers, body } = answerContinue(code.to, languageOf(request, undefined))
    return reply
      .code(status)
      .headers({ ...securityHeaders, ...headers })
      .send(body)
  }

  registerOwnRoute(scope, signInReturnPath, { handler: handle }, ['GET'])
}

function codeIn({ query }: FastifyRequest): string {
  const code = typeof query === 'object' && query !== null ? Reflect.get(query, 'code') : undefined
  return typeof code === 'string' ? code : ''
}
