import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { isLoopback } from '#identity/issuers/redirect-uris.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorDocument, type Html, html, plainDocument } from '#platform/pages/html.ts'
import { answerPage, securityHeaders } from '#portal/portal-response.ts'

/**
 * Asks before the code is passed on, so that people who followed somebody else's link see which program would get it.
 * `url` is that of the program, with the code; `issuer` the name of the issuer.
 */
export function answerContinuePage(
  reply: FastifyReply,
  { url, issuer }: { readonly url: string; readonly issuer: string },
): FastifyReply {
  const title = 'Continue to the program?'
  const body = html`<h1>${title}</h1>
<p>You have signed in at ${issuer}. ${whoOf(new URL(url))} waits for it, and will act as you.</p>
<p><a href="${url}" rel="noreferrer">Continue</a></p>
<p>If you have not just begun to sign in there, close this page: nobody has got anything yet.</p>`
  return send(reply, 200, (nonce) => plainDocument({ title, body, nonce }))
}

function whoOf(url: URL): Html {
  if (isLoopback(url)) return html`A program on this computer (<strong>${url.host}</strong>)`
  if (url.protocol === 'https:') return html`The program at <strong>${url.host}</strong>`
  return html`The program on this computer that opens <strong>${url.protocol}</strong> links`
}

export function answerErrorPage(
  reply: FastifyReply,
  { status, title, detail, code }: GatehouseError,
  requestId: string,
): FastifyReply {
  return send(reply, status, (nonce) =>
    errorDocument({ status, title, detail, code, requestId, link: undefined, nonce }),
  )
}

function send(reply: FastifyReply, status: number, render: (nonce: string) => Html): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  const page = answerPage({ kind: 'page', html: render(nonce), nonce, status, headers: {}, hasImages: false })
  return (
    reply
      .code(status)
      // A program in a browser may have opened this as a window, and waits for its answer there.
      .headers({ ...securityHeaders, ...page.headers, 'Cross-Origin-Opener-Policy': 'unsafe-none' })
      .send(page.body)
  )
}
