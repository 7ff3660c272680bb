import { card } from '../../pages/card.ts'
import { attributeIf, type Html, html } from '../../pages/html.ts'
import { type BadgeKind, badge, staticNotice } from '../../pages/notice.ts'
import { codeBlock } from './code-block.ts'
import { form } from './form.ts'
import type { PageFrame } from './frame.ts'

/** A route that can be tried with GET. */
export interface TryItRoute {
  readonly name: string
  readonly path: string
  /** undefined = any. */
  readonly host: string | undefined
}

/** The call of a route, as text. */
export function requestText({ host = '', path }: TryItRoute): string {
  return `GET ${host}${path}`
}

export type TryItOutcome =
  | { readonly kind: 'answered'; readonly answer: TryItResponse }
  /** The gateway could not be called at all. */
  | { readonly kind: 'failed'; readonly reason: string }

export interface TryItResponse {
  readonly route: string
  readonly status: number
  /** Of the call of the route alone. */
  readonly durationMs: number
  readonly scheme: string
  /** Whether the route sends an identity to its backend at all. */
  readonly sendsIdentity: boolean
  /** The identity headers that the backend shows in its answer; undefined = it does not show its headers. */
  readonly identity: readonly (readonly [name: string, value: string])[] | undefined
  readonly contentType: string
  /** The beginning of the body. */
  readonly body: string
  readonly isTruncated: boolean
}

export interface TryItView {
  readonly routes: readonly TryItRoute[]
  readonly chosen: string | undefined
  readonly outcome: TryItOutcome | undefined
}

/** Calls the gateway as its clients do, and shows the result. */
export function tryItCard(frame: PageFrame, { routes, chosen, outcome }: TryItView): Html {
  const body =
    routes.length === 0
      ? html`<p class="muted">There is no route that your account may call with GET.</p>`
      : html`${form(frame, {
          action: '/integration/try#try-it',
          class: 'search',
          body: html`<div class="grow"><label class="unseen" for="route">Route</label><select id="route" name="route">${routes.map(
            (route) =>
              html`<option value="${route.name}"${attributeIf(route.name === chosen, 'selected')}>${requestText(route)}</option>`,
          )}</select></div><button class="primary" data-busy="Sending…">Send request</button>`,
        })}${outcome && outcomePart(outcome)}`
  return card({
    title: 'Try it',
    lead: 'Calls the gateway with your own keys and shows who the backend saw.',
    id: 'try-it',
    body,
  })
}

function outcomePart(outcome: TryItOutcome): Html {
  return outcome.kind === 'failed' ? staticNotice('bad', outcome.reason) : responsePart(outcome.answer)
}

function responsePart(answer: TryItResponse): Html {
  const { status, durationMs, route, scheme, contentType, body, isTruncated } = answer
  return html`<div class="stack"><p class="row">${badge(kindOf(status), String(status))}<span class="muted">${route} · with ${scheme} · ${durationMs} ms</span></p>
${identityPart(answer)}
${body === '' ? html`<p class="muted">The answer has no body.</p>` : codeBlock(`Answer, ${contentType}${isTruncated ? ', the beginning' : ''}`, body, { isWrapped: true })}</div>`
}

function identityPart({ status, identity, sendsIdentity }: TryItResponse): Html | undefined {
  if (identity === undefined) {
    const text = 'The backend does not show the headers it got; this is its answer.'
    return status < 400 ? staticNotice('info', text) : undefined
  }
  if (identity.length === 0) {
    return staticNotice(
      'info',
      sendsIdentity
        ? 'The headers that the backend shows have no identity among them.'
        : 'No identity was sent: this route takes none.',
    )
  }
  return html`<div class="field"><h3>The backend saw</h3><dl class="facts">${identity.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd class="mono">${value}</dd></div>`,
  )}</dl></div>`
}

function kindOf(status: number): BadgeKind {
  if (status < 300) return 'good'
  return status < 500 ? 'warn' : 'bad'
}
