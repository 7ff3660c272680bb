import type { RouteOptions } from '#gateway/routes/compile.ts'
import type { Carriers } from '#identity/keys/carriers.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { badge, card, emptyState, icon, staticNotice } from '#platform/pages/parts.ts'
import type { ApiGroup, ApiOperation } from '../api/api-document.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, codeBlock, titleRow } from './parts.ts'
import { limitText } from './usage-page.ts'

/** A route that the account may call. */
export type ApiRoute = Pick<
  RouteOptions,
  'name' | 'path' | 'host' | 'methods' | 'auth' | 'scopes' | 'rateLimit'
>

interface ApiView {
  readonly routes: readonly ApiRoute[]
  /** undefined = the document cannot be read now. */
  readonly groups: readonly ApiGroup[] | undefined
  readonly publicOrigin: string
  readonly documentPath: string
  readonly carriers: Carriers
}

/** What can be called, and how. */
export function apiPage(frame: PageFrame, view: ApiView): Html {
  return page(frame, {
    title: 'API reference',
    section: '/integration',
    breadcrumb: { href: '/integration', text: 'Integration' },
    lead: 'What you can call with your keys.',
    actions: html`<a class="button" href="${view.documentPath}" download="openapi.json">${icon('download')}OpenAPI</a>`,
    body: html`${routesCard(frame, view)}${clientCard(frame, view)}${view.groups ? view.groups.map((group) => groupCard(frame, group)) : staticNotice('warn', 'The description of the endpoints cannot be read now. Load the page again.')}`,
  })
}

const credentials: Readonly<Record<ApiRoute['auth'], string>> = {
  secretKey: 'Secret key',
  bearer: 'Access token',
  any: 'Secret key or access token',
  optional: 'Secret key, access token or none',
  none: 'None',
  deny: 'None is accepted',
}

function routesCard({ base }: PageFrame, { routes }: ApiView): Html {
  const titles = ['Route', 'Request', 'Credential', 'Scopes', 'Limit']
  return card({
    title: 'Routes',
    lead: html`Every path below is included. <a href="${base}/integration#try-it">Try them</a>.`,
    isFlush: true,
    body:
      routes.length === 0
        ? emptyState({
            icon: icon('key'),
            title: 'No routes',
            text: 'Your account cannot call any route of this gateway. Ask an administrator.',
          })
        : html`<table>${titleRow(titles)}<tbody>${routes.map(routeRow)}</tbody></table>`,
  })
}

/** A key without scopes passes everywhere; one with scopes only where the route names scopes. */
function routeRow({ name, path, host = '', methods, auth, scopes, rateLimit }: ApiRoute): Html {
  const counted =
    rateLimit && { account: 'of your account', key: 'of each key', ip: 'of each address' }[rateLimit.by]
  const keys =
    auth === 'none'
      ? html`None`
      : scopes === undefined
        ? html`Keys without scopes only`
        : html`<code>${scopes.join(' ')}</code>`
  return html`<tr>${cell('Route', html`${name}`)}${cell(
    'Request',
    html`<code>${methods?.join(', ') ?? 'Any method'} ${host}${path}</code>`,
  )}${cell('Credential', html`${credentials[auth]}`)}${cell('Scopes', keys)}${cell(
    'Limit',
    rateLimit ? html`${limitText(rateLimit)} ${counted}` : html`None`,
  )}</tr>`
}

function clientCard(frame: PageFrame, { publicOrigin, carriers }: ApiView): Html {
  const takesField = carriers.headers.includes('SecretKey')
  const code = `import { env } from "node:process"
import { createClient } from "@gatehouse-proxy/gateway/client"

const client = createClient({
  baseUrl: ${JSON.stringify(publicOrigin)},
  secretKey: env.GATEHOUSE_SECRET_KEY,
  apiKey: env.GATEHOUSE_API_KEY,
})
const response = await client.fetch("/")`
  return card({
    title: 'Client library',
    lead: takesField
      ? 'Gets access tokens with both keys, keeps and refreshes them. With the secret key alone it sends that.'
      : 'Gets access tokens with both keys, keeps and refreshes them.',
    body: html`${codeBlock(frame, 'JavaScript', code)}`,
  })
}

function groupCard(frame: PageFrame, { name, description, operations }: ApiGroup): Html {
  return card({
    title: name,
    lead: description,
    body: html`${operations.map((operation) => operationPart(frame, operation))}`,
  })
}

function operationPart(frame: PageFrame, operation: ApiOperation): Html {
  const { method, path, summary, description, isForAnyone, parameters, body, responses } = operation
  return html`<details><summary><code>${method} ${path}</code></summary><div class="stack"><p>${withCode(summary)}</p>${
    description !== '' && html`<p class="muted">${withCode(description)}</p>`
  }<p>${isForAnyone ? badge('plain', 'No credential') : badge('plain', 'Your key or access token')}</p>${
    parameters.length > 0 &&
    html`<h3>Parameters</h3><dl class="facts">${parameters.map(
      (each) =>
        html`<div><dt><code>${each.name}</code></dt><dd>${each.in}${each.isRequired && ', required'}${each.description !== '' && html`: ${withCode(each.description)}`}</dd></div>`,
    )}</dl>`
  }${body && (body.example === undefined ? html`<p>Body: <code>${body.type}</code></p>` : codeBlock(frame, `Body, ${body.type}`, body.example, { isWrapped: true }))}<h3>Responses</h3><dl class="facts">${responses.map(
    ({ status, description: text }) => html`<div><dt>${status}</dt><dd>${withCode(text)}</dd></div>`,
  )}</dl>${responses.map(
    ({ status, example }) =>
      example !== undefined && codeBlock(frame, `${method} ${path}: ${status}`, example, { isWrapped: true }),
  )}</div></details>`
}

/** Text in which code stands between backticks. */
function withCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
