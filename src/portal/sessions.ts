import { card } from '../pages/card.ts'
import { type Html, html } from '../pages/html.ts'
import { icon } from '../pages/icons.ts'
import { badge, empty } from '../pages/notice.ts'
import { time } from '../pages/time.ts'
import type { PortalSession } from '../store/portal-access.ts'
import type { Session } from '../store/store.ts'
import { clientName } from './client-name.ts'
import { form } from './form.ts'
import type { Frame } from './frame.ts'
import { page } from './page.ts'

export interface SessionsView {
  readonly sessions: SessionsPart
  readonly portalSessions: readonly PortalSession[]
  /** The session that this page is viewed with. */
  readonly current: string
}

/** One page of the sessions of tokens. */
export interface SessionsPart {
  readonly items: readonly Session[]
  /** Of the next page; undefined = this is the last. */
  readonly nextCursor: string | undefined
  readonly isFirstPage: boolean
}

/** The sessions of this account: programs with tokens, browsers in the portal. */
export function sessionsPage(frame: Frame, { sessions, portalSessions, current }: SessionsView): Html {
  return page(frame, {
    title: 'Sessions',
    section: '/sessions',
    lead: 'Everything that is signed in with your account. End whatever you do not recognise.',
    body: html`${portalSessionsCard(frame, portalSessions, { current, act: '/sessions' })}${sessionsCard(frame, sessions, '/sessions')}`,
  })
}

/** @param act path of its page, and of its forms below that, in the portal */
export function sessionsCard(frame: Frame, sessions: SessionsPart, act: string): Html {
  const endAll = askFirst(frame, {
    action: `${act}/end-all`,
    text: 'End all',
    consequence: 'Every program has to ask for an access token again, with both keys.',
  })
  const content = card({
    title: 'Access tokens',
    lead: 'Started with both keys, kept by refresh tokens. Ending one ends its access tokens at once.',
    isFlush: true,
    body:
      sessions.items.length === 0
        ? empty({
            icon: icon('sessions'),
            title: sessions.isFirstPage ? 'No sessions' : 'No more sessions',
            text: 'Nothing has asked for an access token, or all have ended.',
          })
        : html`${sessionTable(
            sessions.items.map((session) => sessionRow(frame, session, act)),
            'Last refresh',
          )}<footer>${endAll}</footer>`,
  })
  return html`${content}${pager(frame, sessions, act)}`
}

function pager({ base }: Frame, { nextCursor, isFirstPage }: SessionsPart, act: string): Html | undefined {
  if (isFirstPage && nextCursor === undefined) return undefined
  return html`<nav class="pager" aria-label="Pages of sessions">${
    isFirstPage ? html`<span></span>` : html`<a class="button" href="${base}${act}">Newest</a>`
  }${nextCursor !== undefined && html`<a class="button" rel="next" href="${base}${act}?cursor=${encodeURIComponent(nextCursor)}">Older</a>`}</nav>`
}

export function portalSessionsCard(
  frame: Frame,
  sessions: readonly PortalSession[],
  { current, act }: { readonly current: string | undefined; readonly act: string },
): Html {
  const isOwn = current !== undefined
  const endAll = askFirst(frame, {
    action: isOwn ? '/sign-out-everywhere' : `${act}/end-all-portal`,
    text: isOwn ? 'Sign out everywhere' : 'End all',
    consequence: isOwn
      ? 'Every browser has to sign in again, this one too. Programs go on.'
      : 'Every browser has to sign in again. Programs go on.',
  })
  return card({
    title: 'Portal',
    lead: isOwn ? 'Browsers that are signed in here.' : 'Browsers that are signed in to the portal.',
    isFlush: true,
    body:
      sessions.length === 0
        ? empty({ icon: icon('sessions'), title: 'No browsers', text: 'Nobody is signed in to the portal.' })
        : html`${sessionTable(
            sessions.map((session) => portalSessionRow(frame, session, { current, act })),
            'Last seen',
          )}<footer>${endAll}</footer>`,
  })
}

export interface Question {
  readonly action: string
  readonly text: string
  /** The consequence, in a sentence. */
  readonly consequence: string
}

/** A button for an act that cannot be undone: it first shows the consequence, and asks to press once more. */
export function askFirst(frame: Frame, { action, text, consequence }: Question): Html {
  return html`<details class="act"><summary class="danger">${text}…</summary>${form(frame, {
    action,
    body: html`<p>${consequence}</p><div><button class="danger primary">${text}</button></div>`,
  })}</details>`
}

function sessionTable(rows: readonly Html[], seen: string): Html {
  return html`<table><thead><tr><th scope="col">Client</th><th scope="col">Address</th><th scope="col">Started</th><th scope="col">${seen}</th><th scope="col">Ends</th><td></td></tr></thead><tbody>${rows}</tbody></table>`
}

function sessionRow(frame: Frame, session: Session, act: string): Html {
  const { id, userAgent, address, createdAt, rotatedAt, expiresAt, generation } = session
  const refreshed = generation > 1 ? time(rotatedAt, frame.now) : html`<span class="muted">Not yet</span>`
  return html`<tr><td data-label="Client"><div>${clientName(userAgent)}<code class="sub">${id}</code></div></td>${[
    cell('Address', address === '' ? html`<span class="muted">Unknown</span>` : html`${address}`),
    cell('Started', time(createdAt, frame.now)),
    cell('Last refresh', refreshed),
    cell('Ends', time(expiresAt, frame.now)),
  ]}${endCell(frame, { action: `${act}/end`, id, text: 'End' })}</tr>`
}

function portalSessionRow(
  frame: Frame,
  session: PortalSession,
  { current, act }: { readonly current: string | undefined; readonly act: string },
): Html {
  const { id, userAgent, address, createdAt, seenAt, expiresAt } = session
  const isThis = id === current
  return html`<tr><td data-label="Client"><div>${clientName(userAgent)} ${isThis && badge('good', 'This browser')}</div></td>${[
    cell('Address', html`${address}`),
    cell('Started', time(createdAt, frame.now)),
    cell('Last seen', time(seenAt, frame.now)),
    cell('Ends', time(expiresAt, frame.now)),
  ]}${endCell(frame, isThis ? { action: '/sign-out', id, text: 'Sign out' } : { action: `${act}/end-portal`, id, text: 'End' })}</tr>`
}

function cell(label: string, content: Html): Html {
  return html`<td data-label="${label}"><div>${content}</div></td>`
}

function endCell(
  frame: Frame,
  { action, id, text }: { readonly action: string; readonly id: string; readonly text: string },
): Html {
  return html`<td class="acts">${form(frame, {
    action,
    class: 'inline',
    body: html`<input type="hidden" name="session" value="${id}"><button class="small danger">${text}<span class="unseen"> session ${id}</span></button>`,
  })}</td>`
}
