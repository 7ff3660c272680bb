import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { destinationOf } from '#gateway/arrival/outcome.ts'
import { isLoopbackUrl } from '#identity/issuers/redirect-uris.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { parseJson } from '#platform/json.ts'
import { errorDocument, type Html, html, plainDocument } from '#platform/pages/html.ts'
import { answerPage, securityHeaders } from '#portal/portal-response.ts'
import { type Parameters, parseParameters } from '../oauth/oauth-request.ts'
import type { OwnEndpoint } from '../own-endpoint.ts'
import { endpointsOf, type IssuerFront } from './issuer-front.ts'

/** Parameters that a client may pass to the issuer; `response_mode` and request objects are not passed on. */
const passedOn = [
  'scope',
  'resource',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'login_hint',
  'max_age',
  'acr_values',
  'ui_locales',
]

/** Where a sign-in returns to. It travels in `state` of the request to the issuer. */
interface ReturnAddress {
  readonly redirectUri: string
  /** As the client has sent it; undefined = it sent none. */
  readonly state: string | undefined
}

/** Longer ones might not fit into the URL by which the issuer returns. */
const stateLengthMax = 2_048

/** How people get to the issuer, and back to their program (RFC 6749 4.1.1, 4.1.2). */
export function createIssuerSignIn(
  front: IssuerFront,
): Readonly<Record<'authorize' | 'callback', OwnEndpoint['handler']>> {
  const { clientId, mayReturnTo } = front

  /** Sends the person to the issuer, which is told to send them back here. */
  async function authorize(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const parameters = queryOf(request)
    const redirectUri = parameters.get('redirect_uri')
    if (parameters.get('client_id') !== clientId || redirectUri === undefined || !mayReturnTo(redirectUri))
      throw new GatehouseError('request-invalid', {
        detail: 'The program that began this sign-in is not registered here: begin again in the program.',
      })
    const to: ReturnAddress = { redirectUri, state: parameters.get('state') }
    const wrong = findWrong(parameters)
    if (wrong) return redirect(reply, answerUrl(to, { ...wrong, iss: front.url }))
    const { authorization } = await endpointsOf(front)
    const asked = passedOn.flatMap((name) => {
      const value = parameters.get(name)
      return value === undefined ? [] : [[name, value] as const]
    })
    return redirect(
      reply,
      withQuery(authorization, {
        ...Object.fromEntries(asked),
        response_type: 'code',
        client_id: clientId,
        redirect_uri: front.callbackUrl,
        state: packReturnAddress(to),
      }),
    )
  }

  /**
   * Sends the person back to the program, with the response of the issuer. The person has to confirm before the program
   * gets a code: to the issuer all programs are one client, so it may not have asked about this one.
   */
  async function callback(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const parameters = queryOf(request)
    const to = readReturnAddress(parameters.get('state'))
    // The state need not be signed: a forged one leads only where a sign-in that its author had begun could lead.
    if (!to || !mayReturnTo(to.redirectUri))
      throw new GatehouseError('request-invalid', {
        detail: 'This response does not belong to a sign-in: begin again in the program.',
      })
    await assertIssuer(parameters.get('iss'))
    const error = parameters.get('error')
    const code = parameters.get('code')
    if (error !== undefined || code === undefined)
      return redirect(
        reply,
        answerUrl(to, {
          error: error ?? 'server_error',
          error_description: parameters.get('error_description'),
          iss: front.url,
        }),
      )
    return answerContinuePage(reply, { url: answerUrl(to, { code, iss: front.url }), issuer: front.name })
  }

  /** Refuses a response of another issuer (RFC 9207 2.4). @throws GatehouseError */
  async function assertIssuer(iss: string | undefined): Promise<void> {
    if (iss === front.issuer || (iss === undefined && !(await endpointsOf(front)).namesItself)) return
    throw new GatehouseError('request-invalid', {
      detail: 'This answer is not from the issuer of this sign-in.',
    })
  }

  return { authorize, callback }
}

/** What is wrong with the client's request. The client is told, as its redirect URI is valid. */
function findWrong(
  parameters: Parameters,
): Readonly<Record<'error' | 'error_description', string>> | undefined {
  if (parameters.get('response_type') !== 'code')
    return { error: 'unsupported_response_type', error_description: 'response_type must be code.' }
  if (['request', 'request_uri'].some((name) => parameters.has(name)))
    return { error: 'request_not_supported', error_description: 'Send the parameters themselves.' }
  if ((parameters.get('response_mode') ?? 'query') !== 'query')
    return { error: 'invalid_request', error_description: 'response_mode must be query.' }
  // Without it a code that somebody has intercepted would be worth a token.
  if (!parameters.has('code_challenge') || parameters.get('code_challenge_method') !== 'S256')
    return {
      error: 'invalid_request',
      error_description: 'PKCE is required, with code_challenge_method=S256.',
    }
  if ((parameters.get('state') ?? '').length > stateLengthMax)
    return {
      error: 'invalid_request',
      error_description: `state must have at most ${stateLengthMax} characters.`,
    }
  return undefined
}

function queryOf({ raw }: FastifyRequest): Parameters {
  return parseParameters(destinationOf(arrivalOf(raw).outcome).target.query.slice(1))
}

function packReturnAddress({ redirectUri, state }: ReturnAddress): string {
  return Buffer.from(JSON.stringify([redirectUri, state])).toString('base64url')
}

function readReturnAddress(text = ''): ReturnAddress | undefined {
  const value = parseJson(Buffer.from(text, 'base64url').toString())
  if (!Array.isArray(value)) return undefined
  // The cast is sound: a list has members of any kind.
  const [redirectUri, state] = value as readonly unknown[]
  if (typeof redirectUri !== 'string' || (typeof state !== 'string' && state !== null)) return undefined
  return { redirectUri, state: state ?? undefined }
}

function answerUrl(
  { redirectUri, state }: ReturnAddress,
  answer: Readonly<Record<string, string | undefined>>,
): string {
  return withQuery(redirectUri, { ...answer, state })
}

/** Adds parameters to those that a URL has (RFC 6749 3.1.2). */
function withQuery(base: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const url = new URL(base)
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) url.searchParams.set(name, value)
  return url.href
}

function redirect(reply: FastifyReply, url: string): FastifyReply {
  return reply
    .code(303)
    .headers({ Location: url, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
    .send()
}

/**
 * Asks before the code is passed on, so that people who followed somebody else's link see which program would get it.
 * `url` is that of the program, with the code; `issuer` the name of the issuer.
 */
function answerContinuePage(
  reply: FastifyReply,
  { url, issuer }: { readonly url: string; readonly issuer: string },
): FastifyReply {
  const title = 'Continue to the program?'
  const body = html`<h1>${title}</h1>
<p>You have signed in at ${issuer}. ${whoOf(new URL(url))} waits for it, and will act as you.</p>
<p><a href="${url}" rel="noreferrer">Continue</a></p>
<p>If you have not just begun to sign in there, close this page: nobody has got anything yet.</p>`
  return sendPage(reply, 200, (nonce) => plainDocument({ title, body, nonce }))
}

function whoOf(url: URL): Html {
  if (isLoopbackUrl(url)) return html`A program on this computer (<strong>${url.host}</strong>)`
  if (url.protocol === 'https:') return html`The program at <strong>${url.host}</strong>`
  return html`The program on this computer that opens <strong>${url.protocol}</strong> links`
}

export function answerErrorPage(
  reply: FastifyReply,
  { status, title, detail, code }: GatehouseError,
  requestId: string,
): FastifyReply {
  return sendPage(reply, status, (nonce) =>
    errorDocument({ status, title, detail, code, requestId, link: undefined, nonce }),
  )
}

function sendPage(reply: FastifyReply, status: number, render: (nonce: string) => Html): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  const page = answerPage({ kind: 'page', html: render(nonce), nonce, status, headers: {}, hasImages: false })
  return (
    reply
      .code(status)
      // A program in a browser may have opened this page as a window, and wait for it to return.
      .headers({ ...securityHeaders, ...page.headers, 'Cross-Origin-Opener-Policy': 'unsafe-none' })
      .send(page.body)
  )
}
