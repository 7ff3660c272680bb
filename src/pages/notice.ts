import { type Content, type Html, html, when } from './html.ts'
import { icon } from './icons.ts'

export type NoticeKind = 'good' | 'warn' | 'bad' | 'info'

/** A box that says what has happened or what to mind; an error is read out at once. @param hasFocus is gone to at once */
export function notice(kind: NoticeKind, text: Content, hasFocus = false): Html {
  const role = kind === 'bad' ? 'alert' : 'status'
  return html`<div class="notice ${kind}" role="${role}"${when(hasFocus, 'tabindex="-1" autofocus')}>${icon(kind)}<div>${text}</div></div>`
}

/** The same without a role, for what stands there all along. */
export function remark(kind: NoticeKind, text: Content): Html {
  return html`<div class="notice ${kind}">${icon(kind)}<div>${text}</div></div>`
}

export type BadgeKind = 'good' | 'warn' | 'bad' | 'plain'

export function badge(kind: BadgeKind, text: string): Html {
  return html`<span class="badge ${kind}">${text}</span>`
}

/** What a list shows that has nothing in it. */
export function empty(content: {
  readonly icon: Html
  readonly title: string
  readonly text: Content
}): Html {
  return html`<div class="empty">${content.icon}<h2>${content.title}</h2><p>${content.text}</p></div>`
}
