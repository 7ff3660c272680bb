import {
  attributeIf,
  type BadgeKind,
  badge,
  card,
  type Html,
  html,
  staticNotice,
} from '#platform/pages/html.ts'
import { form, options } from '../form.ts'
import type { PageFrame } from '../frame.ts'
import { codeBlock } from '../parts.ts'

export interface TryItRoute {
  readonly name: string
  readonly path: string
  /** undefined = any. */
  readonly host: string | undefined
  /** The method that is used unless another is chosen. */
  readonly method: string
}

export const triedMethods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** What is sent to the route, as it was typed. */
export interface TryItRequest {
  /** '' = that of the route. */
  readonly method: string
  /** What follows the path of the route. */
  readonly rest: string
  readonly body: string
}

/** The request for a route, as text. */
export function requestText({ method, host = '', path }: Omit<TryItRoute, 'name'>): string {
  return `${method} ${host}${path}`
}

export type TryItOutcome =
  | { readonly kind: 'answered'; readonly response: TryItResponse }
  /** The gateway could not be called at all. */
  | { readonly kind: 'failed'; readonly reason: string }

interface TryItResponse {
  readonly route: string
  readonly status: number
  /** For the request to the route only. */
  readonly durationMs: number
  readonly credential: 'none' | 'accessToken' | 'secretKey'
  /** Whether the route sends identity headers to its backend at all. */
  readonly sendsIdentity: boolean
  /** The identity headers that the backend echoes; undefined = it does not echo its request headers. */
  readonly identity: readonly (readonly [name: string, value: string])[] | undefined
  readonly contentType: string
  /** The beginning of the body. */
  readonly body: string
  readonly isTruncated: boolean
}

export interface TryItView {
  readonly routes: readonly TryItRoute[]
  readonly chosen: string | undefined
  readonly request: TryItRequest
  readonly outcome: TryItOutcome | undefined
}

/** Calls the gateway as its clients do, and shows the result. */
export function tryItCard(frame: PageFrame, { routes, chosen, request, outcome }: TryItView): Html {
  const texts = frame.texts.tryIt
  const body =
    routes.length === 0
      ? html`<p class="muted">${texts.noRoutes}</p>`
      : html`${form(frame, {
          action: '/integration/try#try-it',
          class: 'search',
          body: html`<div class="grow"><label class="visually-hidden" for="route">${texts.route}</label><select id="route" name="route">${options(
            routes.map((route) => ({ value: route.name, text: requestText(route) })),
            chosen,
          )}</select></div><button class="primary" data-busy="${texts.sending}">${texts.send}</button>${requestPart(frame, request)}`,
        })}${outcome && outcomePart(frame, outcome)}`
  return card({
    title: texts.title,
    lead: texts.lead,
    id: 'try-it',
    body,
  })
}

/** No field is called `method`: scripts that read `form.method` would get the field instead. */
function requestPart({ texts: { tryIt } }: PageFrame, { method, rest, body }: TryItRequest): Html {
  const isOpen = method !== '' || rest !== '' || body !== ''
  return html`<details class="whole"${attributeIf(isOpen, 'open')}><summary>${tryIt.more}</summary><div class="stack"><div class="field"><label for="try-method">${tryIt.method}</label><select id="try-method" name="tryMethod"><option value="">${tryIt.asAbove}</option>${triedMethods.map(
    (each) => html`<option${attributeIf(each === method, 'selected')}>${each}</option>`,
  )}</select></div>
<div class="field"><label for="try-rest">${tryIt.rest}</label><p class="hint" id="try-rest-hint">${tryIt.restHint}</p><input id="try-rest" name="rest" value="${rest}" maxlength="2000" autocapitalize="none" spellcheck="false" autocomplete="off" aria-describedby="try-rest-hint"></div>
<div class="field"><label for="try-body">${tryIt.body}</label><p class="hint" id="try-body-hint">${tryIt.bodyHint}</p><textarea id="try-body" name="body" rows="6" spellcheck="false" aria-describedby="try-body-hint">
${body}</textarea></div></div></details>`
}

function outcomePart(frame: PageFrame, outcome: TryItOutcome): Html {
  return outcome.kind === 'failed'
    ? staticNotice('bad', outcome.reason)
    : responsePart(frame, outcome.response)
}

function responsePart(frame: PageFrame, response: TryItResponse): Html {
  const { status, durationMs, route, credential, contentType, body, isTruncated } = response
  const texts = frame.texts.tryIt
  return html`<div class="stack"><p class="row">${badge(kindOf(status), String(status))}<span class="muted">${texts.sent(route, credential, durationMs)}</span></p>
${identityPart(frame, response)}
${body === '' ? html`<p class="muted">${texts.noBody}</p>` : codeBlock(frame, texts.response(contentType, isTruncated), body, { isWrapped: true })}</div>`
}

function identityPart(
  { texts: { tryIt } }: PageFrame,
  { status, identity, sendsIdentity }: TryItResponse,
): Html | undefined {
  if (identity === undefined) {
    return status < 400 ? staticNotice('info', tryIt.noEcho) : undefined
  }
  if (identity.length === 0) {
    return staticNotice('info', sendsIdentity ? tryIt.noneEchoed : tryIt.noneSent)
  }
  return html`<div class="field"><h3>${tryIt.received}</h3><dl class="facts">${identity.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd class="mono">${value}</dd></div>`,
  )}</dl></div>`
}

function kindOf(status: number): BadgeKind {
  if (status < 300) return 'good'
  return status < 500 ? 'warn' : 'bad'
}
