import { time } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { badge, card, emptyState, icon } from '#platform/pages/parts.ts'
import type { PortalSession } from '#store/portal.ts'
import { portalEpochIn } from '#store/secret-keys.ts'
import type { Session } from '#store/sessions.ts'
import { foldedForm, form } from './form.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, pager } from './parts.ts'

interface SessionsView {
  readonly sessions: SessionsList
  readonly portalSessions: readonly PortalSession[]
  /** The viewer's own session. */
  readonly current: string
}

/** One page of token sessions. */
export interface SessionsList {
  readonly items: readonly Session[]
  /** For the next page; undefined = this is the last one. */
  readonly nextCursor: string | undefined
  readonly isFirstPage: boolean
}

/** The sessions of this account: token sessions of clients, portal sessions of browsers. */
export function sessionsPage(frame: PageFrame, { sessions, portalSessions, current }: SessionsView): Html {
  return page(frame, {
    title: 'Sessions',
    section: '/sessions',
    lead: 'Everything signed in to your account. End any session you do not recognise.',
    body: html`${portalSessionsCard(frame, portalSessions, { current, basePath: '/sessions' })}${sessionsCard(frame, sessions, '/sessions')}`,
  })
}

/** @param basePath path of the page, below the portal; its forms are below that path */
export function sessionsCard(frame: PageFrame, sessions: SessionsList, basePath: string): Html {
  const hasBrowsers = sessions.items.some(({ keyId }) => portalEpochIn(keyId) !== undefined)
  const ofClients = 'Every client must get a new access token with both keys.'
  const endAll = confirmationForm(frame, {
    action: `${basePath}/end-all`,
    text: 'End all',
    consequence: hasBrowsers ? `${ofClients} Browsers must sign in again.` : ofClients,
  })
  const content = card({
    title: 'Token sessions',
    lead: 'Started with both keys, extended by refresh tokens. Ending one revokes its access tokens immediately.',
    isFlush: true,
    body:
      sessions.items.length === 0
        ? emptyState({
            icon: icon('sessions'),
            title: sessions.isFirstPage ? 'No active token sessions' : 'No more token sessions',
            text: 'Sessions appear here when a client gets an access token.',
          })
        : html`${sessionTable(
            sessions.items.map((session) => sessionRow(frame, session, basePath)),
            'Last refresh',
          )}<footer>${endAll}</footer>`,
  })
  return html`${content}${pager(frame, {
    label: 'Pages of sessions',
    ...sessions,
    texts: ['Newest', 'Older'],
    hrefOf: (cursor) =>
      `${frame.base}${basePath}${cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`}`,
  })}`
}

export function portalSessionsCard(
  frame: PageFrame,
  sessions: readonly PortalSession[],
  { current, basePath }: { readonly current: string | undefined; readonly basePath: string },
): Html {
  const isOwn = current !== undefined
  const endAll = confirmationForm(frame, {
    action: isOwn ? '/sign-out-everywhere' : `${basePath}/end-all-portal`,
    text: isOwn ? 'Sign out everywhere' : 'End all',
    consequence: isOwn
      ? 'Every browser, including this one, must sign in again. Token sessions are not affected.'
      : 'Every browser must sign in again. Token sessions are not affected.',
  })
  return card({
    title: 'Portal sessions',
    lead: 'Browsers signed in to the portal.',
    isFlush: true,
    body:
      sessions.length === 0
        ? emptyState({
            icon: icon('sessions'),
            title: 'No active portal sessions',
            text: 'No browser is signed in.',
          })
        : html`${sessionTable(
            sessions.map((session) => portalSessionRow(frame, session, { current, basePath })),
            'Last seen',
          )}<footer>${endAll}</footer>`,
  })
}

/** A button for an irreversible action: it first shows the consequence and asks to confirm. */
export function confirmationForm(
  frame: PageFrame,
  {
    action,
    text,
    consequence,
  }: { readonly action: string; readonly text: string; readonly consequence: string },
): Html {
  return foldedForm(frame, {
    summary: `${text}…`,
    isDanger: true,
    action,
    body: html`<p>${consequence}</p><div><button class="danger primary">${text}</button></div>`,
  })
}

function sessionTable(rows: readonly Html[], seen: string): Html {
  return html`<table><thead><tr><th scope="col">Client</th><th scope="col">Address</th><th scope="col">Started</th><th scope="col">${seen}</th><th scope="col">Expires</th><td></td></tr></thead><tbody>${rows}</tbody></table>`
}

function sessionRow(frame: PageFrame, session: Session, basePath: string): Html {
  const { id, userAgent, address, createdAt, rotatedAt, expiresAt, generation } = session
  const refreshed = generation > 1 ? time(rotatedAt, frame) : html`<span class="muted">Never</span>`
  return html`<tr><td data-label="Client"><div>${clientName(userAgent)}<code class="sub">${id}</code></div></td>${[
    cell('Address', address === '' ? html`<span class="muted">Unknown</span>` : html`${address}`),
    cell('Started', time(createdAt, frame)),
    cell('Last refresh', refreshed),
    cell('Expires', time(expiresAt, frame)),
  ]}${endCell(frame, { action: `${basePath}/end`, id, text: 'End' })}</tr>`
}

function portalSessionRow(
  frame: PageFrame,
  session: PortalSession,
  { current, basePath }: { readonly current: string | undefined; readonly basePath: string },
): Html {
  const { id, userAgent, address, createdAt, seenAt, expiresAt } = session
  const isThis = id === current
  return html`<tr><td data-label="Client"><div>${clientName(userAgent)} ${isThis && badge('good', 'This browser')}</div></td>${[
    cell('Address', html`${address}`),
    cell('Started', time(createdAt, frame)),
    cell('Last seen', time(seenAt, frame)),
    cell('Expires', time(expiresAt, frame)),
  ]}${endCell(frame, isThis ? { action: '/sign-out', id, text: 'Sign out' } : { action: `${basePath}/end-portal`, id, text: 'End' })}</tr>`
}

function endCell(
  frame: PageFrame,
  { action, id, text }: { readonly action: string; readonly id: string; readonly text: string },
): Html {
  return html`<td class="acts">${form(frame, {
    action,
    class: 'inline',
    body: html`<input type="hidden" name="session" value="${id}"><button class="small danger">${text}<span class="visually-hidden"> session ${id}</span></button>`,
  })}</td>`
}

const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\/(\d+)/, 'Edge'],
  [/(?:OPR|Opera)\/(\d+)/, 'Opera'],
  [/SamsungBrowser\/(\d+)/, 'Samsung Internet'],
  [/(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/Version\/(\d{1,9})[\d.]{0,32} (?:Mobile\/\w{1,32} )?Safari/, 'Safari'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux|X11/, 'Linux'],
]

/**
 * A User-Agent in readable form: `Firefox 140 on Windows`, `curl 8.7.1`. The client sets it itself, so it is a hint,
 * never a proof.
 */
export function clientName(userAgent: string): string {
  if (userAgent === '') return 'Unknown client'
  const [browser, version] =
    browsers.flatMap(([pattern, name]) => {
      const found = pattern.exec(userAgent)
      return found ? [[name, found[1]] as const] : []
    })[0] ?? []
  if (browser === undefined) return firstProduct(userAgent)
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  return system === undefined ? `${browser} ${version}` : `${browser} ${version} on ${system}`
}

/** The first product in a User-Agent (RFC 9110 10.1.5). */
function firstProduct(userAgent: string): string {
  const [product = ''] = userAgent.split(' ', 1)
  return product.replace('/', ' ')
}
