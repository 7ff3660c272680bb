import { attributeIf, type Content, type Html, html, rawHtml } from './html.ts'

/** A section of a page with its own heading. */
export function card(content: {
  readonly title: Content
  readonly lead?: Content
  readonly aside?: Content
  readonly body: Content
  readonly id?: string
  /** Without padding, for tables. */
  readonly isFlush?: boolean
}): Html {
  const { title, lead, aside, body, id, isFlush = false } = content
  return html`<section class="card"${id !== undefined && html` id="${id}"`}><header><div><h2>${title}</h2>${
    lead !== undefined && html`<p>${lead}</p>`
  }</div>${aside !== undefined && html`<div class="row">${aside}</div>`}</header>${
    isFlush || body === '' ? body : html`<div class="body">${body}</div>`
  }</section>`
}

export type NoticeKind = 'good' | 'warn' | 'bad' | 'info'

/** A box with a message; screen readers announce an error immediately. @param hasFocus whether it gets the focus */
export function notice(kind: NoticeKind, text: Content, hasFocus = false): Html {
  const role = kind === 'bad' ? 'alert' : 'status'
  return html`<div class="notice ${kind}" role="${role}"${attributeIf(hasFocus, 'tabindex="-1" autofocus')}>${icon(kind)}<div>${text}</div></div>`
}

/** A notice without a role, for text that is part of the page. */
export function staticNotice(kind: NoticeKind, text: Content): Html {
  return html`<div class="notice ${kind}">${icon(kind)}<div>${text}</div></div>`
}

export type BadgeKind = 'good' | 'warn' | 'bad' | 'plain'

export function badge(kind: BadgeKind, text: string): Html {
  return html`<span class="badge ${kind}">${text}</span>`
}

/** Shown in place of an empty list. */
export function emptyState(content: {
  readonly icon: Html
  readonly title: string
  readonly text: Content
}): Html {
  return html`<div class="empty">${content.icon}<h2>${content.title}</h2><p>${content.text}</p></div>`
}

/** Icons, 24 by 24, in the colour of the text. Decorative: the text beside them always says the same. */
const paths = {
  gate: '<path d="M4 21V11a8 8 0 0 1 16 0v10"/><path d="M2.5 21h19M9 21v-9m6 9v-9M9 12a3 3 0 0 1 6 0"/>',
  key: '<circle cx="8" cy="15" r="4.5"/><path d="M11.2 11.8 20 3m-3.5 3.5L19.5 9.5"/>',
  sessions: '<rect x="3" y="4" width="18" height="12" rx="2"/><path d="M8 20h8m-4-4v4"/>',
  profile: '<circle cx="12" cy="8" r="4"/><path d="M4.5 20.5c1.2-3.6 4-5.5 7.5-5.5s6.3 1.9 7.5 5.5"/>',
  accounts:
    '<circle cx="9" cy="8.5" r="3.5"/><path d="M2.5 20c.8-3.4 3.2-5 6.5-5s5.7 1.6 6.5 5M16 5.3a3.5 3.5 0 0 1 0 6.4m2.3 3.8c1.7.8 2.8 2.3 3.2 4.5"/>',
  audit: '<path d="M8 6h12M8 12h12M8 18h12"/><path d="M3.5 6h.01M3.5 12h.01M3.5 18h.01"/>',
  good: '<circle cx="12" cy="12" r="9"/><path d="m8.5 12.3 2.4 2.4 4.8-5.2"/>',
  warn: '<path d="M12 4 2.8 20h18.4z"/><path d="M12 10v4.5m0 2.7v.01"/>',
  bad: '<circle cx="12" cy="12" r="9"/><path d="M12 7.5v5.5m0 3v.01"/>',
  info: '<circle cx="12" cy="12" r="9"/><path d="M12 11v5.5m0-8.5v.01"/>',
  back: '<path d="m14.5 6-6 6 6 6"/>',
  plus: '<path d="M12 5v14M5 12h14"/>',
  search: '<circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5"/>',
  upload: '<path d="M12 16V4m0 0L7.5 8.5M12 4l4.5 4.5M4 16.5V20h16v-3.5"/>',
  download: '<path d="M12 4v12m0 0 4.5-4.5M12 16l-4.5-4.5M4 16.5V20h16v-3.5"/>',
  leave: '<path d="M10 4H5v16h5M15 8l4 4-4 4m4-4H9.5"/>',
  usage: '<path d="M4 20V4m0 16h16"/><path d="M8.5 16v-4m4 4V8m4 8v-6"/>',
  events: '<path d="M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15z"/><path d="M10 21h4"/>',
  play: '<path d="m7 4.5 12 7.5-12 7.5z"/>',
} as const

export type IconName = keyof typeof paths

export function icon(name: IconName): Html {
  return rawHtml(`<svg viewBox="0 0 24 24" aria-hidden="true">${paths[name]}</svg>`)
}

/** The favicon as a data URL. */
export const faviconUrl =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%23149482' stroke-width='2' stroke-linecap='round'%3E%3Cpath d='M4 21V11a8 8 0 0 1 16 0v10M2.5 21h19M9 21v-9a3 3 0 0 1 6 0v9'/%3E%3C/svg%3E"
