import { time } from '#platform/pages/format.ts'
import { badge, card, emptyState, type Html, html, icon } from '#platform/pages/html.ts'
import type { PortalSession } from '#store/portal.ts'
import { portalEpochIn, type Session } from '#store/sessions.ts'
import type { Texts } from '../texts/texts.ts'
import { foldedForm, form, hidden } from './form.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, pager } from './parts.ts'

interface SessionsView {
  readonly sessions: SessionsList
  readonly portalSessions: readonly PortalSession[]
  /** The viewer's own session. */
  readonly current: string
}

export interface SessionsList {
  readonly items: readonly Session[]
  /** For the next page; undefined = this is the last one. */
  readonly nextCursor: string | undefined
  readonly isFirstPage: boolean
}

/** The sessions of this account: token sessions of clients, portal sessions of browsers. */
export function sessionsPage(frame: PageFrame, { sessions, portalSessions, current }: SessionsView): Html {
  return page(frame, {
    title: frame.texts.layout.sections['/sessions'],
    section: '/sessions',
    lead: frame.texts.sessions.lead,
    body: html`${portalSessionsCard(frame, portalSessions, { current, basePath: '/sessions' })}${sessionsCard(frame, sessions, '/sessions')}`,
  })
}

/** @param basePath path of the page, below the portal; its forms are below that path */
export function sessionsCard(frame: PageFrame, sessions: SessionsList, basePath: string): Html {
  const hasBrowsers = sessions.items.some(({ keyId }) => portalEpochIn(keyId) !== undefined)
  const { sessions: texts, parts } = frame.texts
  const { tokens } = texts
  const endAll = confirmationForm(frame, {
    action: `${basePath}/end-all`,
    text: texts.endAll,
    consequence: hasBrowsers ? tokens.endAllClientsAndBrowsers : tokens.endAllClients,
  })
  const content = card({
    title: tokens.title,
    lead: tokens.lead,
    isFlush: true,
    body:
      sessions.items.length === 0
        ? emptyState({
            icon: icon('sessions'),
            title: sessions.isFirstPage ? tokens.none : tokens.noMore,
            text: tokens.noneText,
          })
        : html`${sessionTable(
            frame,
            sessions.items.map((session) => sessionRow(frame, session, basePath)),
            tokens.lastRefresh,
          )}<footer>${endAll}</footer>`,
  })
  return html`${content}${pager(frame, {
    label: tokens.pages,
    ...sessions,
    texts: [parts.newest, parts.older],
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
  const texts = frame.texts.sessions
  const { portal } = texts
  const signsOut = isOwn ? portal.endAllOwn : portal.endAll
  const endsTokens = frame.hasAccessCookie ? portal.endsBrowserTokens : portal.keepsTokens
  const endAll = confirmationForm(frame, {
    action: isOwn ? '/sign-out-everywhere' : `${basePath}/end-all-portal`,
    text: isOwn ? portal.signOutEverywhere : texts.endAll,
    consequence: `${signsOut} ${endsTokens}`,
  })
  return card({
    title: portal.title,
    lead: portal.lead,
    isFlush: true,
    body:
      sessions.length === 0
        ? emptyState({
            icon: icon('sessions'),
            title: portal.none,
            text: portal.noneText,
          })
        : html`${sessionTable(
            frame,
            sessions.map((session) => portalSessionRow(frame, session, { current, basePath })),
            portal.lastSeen,
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

function sessionTable({ texts }: PageFrame, rows: readonly Html[], seen: string): Html {
  const { sessions, parts } = texts
  return html`<table><thead><tr><th scope="col">${sessions.client}</th><th scope="col">${parts.address}</th><th scope="col">${sessions.started}</th><th scope="col">${seen}</th><th scope="col">${parts.expires}</th><td></td></tr></thead><tbody>${rows}</tbody></table>`
}

function sessionRow(frame: PageFrame, session: Session, basePath: string): Html {
  const { sessions: texts, parts } = frame.texts
  const { id, userAgent, address, createdAt, rotatedAt, expiresAt, generation } = session
  const refreshed = generation > 1 ? time(rotatedAt, frame) : html`<span class="muted">${parts.never}</span>`
  return html`<tr><td data-label="${texts.client}"><div>${clientName(userAgent, texts)}<code class="sub">${id}</code></div></td>${[
    cell(parts.address, address === '' ? html`<span class="muted">${texts.unknown}</span>` : address),
    cell(texts.started, time(createdAt, frame)),
    cell(texts.tokens.lastRefresh, refreshed),
    cell(parts.expires, time(expiresAt, frame)),
  ]}${endCell(frame, { action: `${basePath}/end`, id, text: texts.end })}</tr>`
}

function portalSessionRow(
  frame: PageFrame,
  session: PortalSession,
  { current, basePath }: { readonly current: string | undefined; readonly basePath: string },
): Html {
  const { id, userAgent, address, createdAt, seenAt, expiresAt } = session
  const isThis = id === current
  const { sessions: texts, parts } = frame.texts
  return html`<tr><td data-label="${texts.client}"><div>${clientName(userAgent, texts)} ${isThis && badge('good', texts.portal.thisBrowser)}</div></td>${[
    cell(parts.address, address),
    cell(texts.started, time(createdAt, frame)),
    cell(texts.portal.lastSeen, time(seenAt, frame)),
    cell(parts.expires, time(expiresAt, frame)),
  ]}${endCell(frame, isThis ? { action: '/sign-out', id, text: frame.texts.layout.signOut } : { action: `${basePath}/end-portal`, id, text: texts.end })}</tr>`
}

function endCell(
  frame: PageFrame,
  { action, id, text }: { readonly action: string; readonly id: string; readonly text: string },
): Html {
  return html`<td class="acts">${form(frame, {
    action,
    class: 'inline',
    body: html`${hidden({ session: id })}<button class="small danger">${text}<span class="visually-hidden"> ${frame.texts.sessions.ofSession(id)}</span></button>`,
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
export function clientName(
  userAgent: string,
  { unknownClient, browserOn }: Pick<Texts['sessions'], 'unknownClient' | 'browserOn'>,
): string {
  if (userAgent === '') return unknownClient
  const [browser, version] =
    browsers.flatMap(([pattern, name]) => {
      const found = pattern.exec(userAgent)
      return found ? [[name, found[1]] as const] : []
    })[0] ?? []
  if (browser === undefined) return firstProduct(userAgent)
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  return system === undefined ? `${browser} ${version}` : browserOn(`${browser} ${version}`, system)
}

/** The first product in a User-Agent (RFC 9110 10.1.5). */
function firstProduct(userAgent: string): string {
  const [product = ''] = userAgent.split(' ', 1)
  return product.replace('/', ' ')
}
