import type { RouteOptions } from '#gateway/routes/compile.ts'
import { badge, card, emptyState, type Html, html, icon, staticNotice } from '#platform/pages/html.ts'
import type { PageFrame } from './frame.ts'
import type { SnippetOptions } from './integration/snippets.ts'
import { page } from './layout.ts'
import { cell, codeBlock, titleRow } from './parts.ts'
import { limitText } from './usage-page.ts'

/** A route that the account may call. */
type ApiRoute = Pick<RouteOptions, 'name' | 'path' | 'host' | 'methods' | 'auth' | 'scopes' | 'rateLimit'>

interface ApiView extends SnippetOptions {
  readonly routes: readonly ApiRoute[]
  /** undefined = the document cannot be read now. */
  readonly groups: readonly ApiGroup[] | undefined
  readonly documentPath: string
}

/** An operation of the gateway's own endpoints, as its page shows it. */
export interface ApiOperation {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly isForAnyone: boolean
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly isRequired: boolean
    readonly description: string
  }[]
  /** undefined = there is none. */
  readonly body: ApiContent | undefined
  readonly responses: readonly ({
    readonly status: string
    readonly description: string
  } & Partial<ApiContent>)[]
}

export interface ApiContent {
  readonly type: string
  /** JSON; undefined = the document has none. */
  readonly example: string | undefined
}

/** Operations about one thing. */
export interface ApiGroup {
  readonly name: string
  readonly description: string
  readonly operations: readonly ApiOperation[]
}

/** What can be called, and how. */
export function apiPage(frame: PageFrame, view: ApiView): Html {
  const { api: texts, layout } = frame.texts
  return page(frame, {
    title: texts.title,
    section: '/integration',
    breadcrumb: { href: '/integration', text: layout.sections['/integration'] },
    lead: texts.lead,
    actions: html`<a class="button" href="${view.documentPath}" download="openapi.json">${icon('download')}OpenAPI</a>`,
    body: html`${routesCard(frame, view)}${clientCard(frame, view)}${view.groups ? view.groups.map((group) => groupCard(frame, group)) : staticNotice('warn', texts.unreadable)}`,
  })
}

function routesCard(frame: PageFrame, { routes }: ApiView): Html {
  const texts = frame.texts.api
  const { route, request, credential, scopes, limit } = texts.columns
  return card({
    title: texts.routes,
    lead: texts.routesLead(`${frame.base}/integration#try-it`),
    isFlush: true,
    body:
      routes.length === 0
        ? emptyState({ icon: icon('key'), title: texts.noRoutes, text: texts.noRoutesText })
        : html`<table>${titleRow([route, request, credential, scopes, limit])}<tbody>${routes.map((each) => routeRow(frame, each))}</tbody></table>`,
  })
}

/** A key without scopes passes everywhere; one with scopes only where the route names scopes. */
function routeRow(
  frame: PageFrame,
  { name, path, host = '', methods, auth, scopes, rateLimit }: ApiRoute,
): Html {
  const { api } = frame.texts
  const { columns } = api
  const scoped = scopes === undefined ? html`${api.unscopedOnly}` : html`<code>${scopes.join(' ')}</code>`
  return html`<tr>${cell(columns.route, html`${name}`)}${cell(
    columns.request,
    html`<code>${methods?.join(', ') ?? api.anyMethod} ${host}${path}</code>`,
  )}${cell(columns.credential, html`${api.credentials[auth]}`)}${cell(
    columns.scopes,
    auth === 'none' ? html`${api.none}` : scoped,
  )}${cell(
    columns.limit,
    html`${rateLimit ? api.limitBy[rateLimit.by](limitText(frame, rateLimit)) : api.none}`,
  )}</tr>`
}

function clientCard(frame: PageFrame, { baseUrl, path, carriers }: ApiView): Html {
  const texts = frame.texts.api
  const takesField = carriers.headers.includes('SecretKey')
  const code = `import { env } from "node:process"
import { createClient } from "@gatehouse-proxy/gateway/client"

const client = createClient({
  baseUrl: ${JSON.stringify(baseUrl)},
  secretKey: env.GATEHOUSE_SECRET_KEY,
  apiKey: env.GATEHOUSE_API_KEY,
})
const response = await client.fetch(${JSON.stringify(path)})`
  return card({
    title: texts.clientLibrary,
    lead: takesField ? texts.clientLeadWithSecretKey : texts.clientLead,
    body: html`${codeBlock(frame, 'JavaScript', code)}`,
  })
}

function groupCard(frame: PageFrame, { name, description, operations }: ApiGroup): Html {
  return card({
    title: html`<span lang="en">${name}</span>`,
    lead: documentText(description),
    body: html`${operations.map((operation) => operationPart(frame, operation))}`,
  })
}

function operationPart(frame: PageFrame, operation: ApiOperation): Html {
  const { method, path, summary, description, isForAnyone, parameters, body, responses } = operation
  const texts = frame.texts.api
  return html`<details><summary><code>${method} ${path}</code></summary><div class="stack"><p>${documentText(summary)}</p>${
    description !== '' && html`<p class="muted">${documentText(description)}</p>`
  }<p>${badge('plain', isForAnyone ? texts.isForAnyone : texts.isForKeys)}</p>${
    parameters.length > 0 &&
    html`<h3>${texts.parameters}</h3><dl class="facts">${parameters.map(
      (each) =>
        html`<div><dt><code>${each.name}</code></dt><dd>${texts.parameter(each.in, each.isRequired)}${each.description !== '' && html`: ${documentText(each.description)}`}</dd></div>`,
    )}</dl>`
  }${body && (body.example === undefined ? html`<p>${texts.bodyType}<code>${body.type}</code></p>` : codeBlock(frame, texts.body(body.type), body.example, { isWrapped: true }))}<h3>${texts.responses}</h3><dl class="facts">${responses.map(
    ({ status, description: text }) => html`<div><dt>${status}</dt><dd>${documentText(text)}</dd></div>`,
  )}</dl>${responses.map(
    ({ status, example }) =>
      example !== undefined && codeBlock(frame, `${method} ${path}: ${status}`, example, { isWrapped: true }),
  )}</div></details>`
}

/** A text of the document, which is in English; code stands between backticks. */
function documentText(text: string): Html {
  return html`<span lang="en">${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}</span>`
}
