import { attributeIf, type Content, type Html, html } from './html.ts'
import { icon } from './icons.ts'

export type NoticeKind = 'good' | 'warn' | 'bad' | 'info'

/** A box with a message; screen readers announce an error immediately. @param hasFocus whether it gets the focus */
export function notice(kind: NoticeKind, text: Content, hasFocus = false): Html {
  const role = kind === 'bad' ? 'alert' : 'status'
  return html`<div class="notice ${kind}" role="${role}"${attributeIf(hasFocus, 'tabindex="-1" autofocus')}>${icon(kind)}<div>${text}</div></div>`
}

/** The same without a role, for text that is part of the page. */
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
