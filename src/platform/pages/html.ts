/** HTML that is safe to send: made by the `html` tag, which escapes all interpolated values. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/** An interpolated value: text and numbers are escaped; undefined and false render as nothing. */
export type Content = Html | string | number | undefined | false | readonly Content[]

/**
 * A fragment of HTML. Values are escaped for text and for attributes in double quotes, the only places where they may
 * be used.
 */
export function html(pieces: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(pieces.reduce((text, piece, index) => text + escapeContent(contents[index - 1]) + piece))
}

/** For text that is known to be safe HTML, such as an icon. */
export function rawHtml(text: string): Html {
  return new Html(text)
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeContent(content: Content): string {
  if (content === undefined || content === false) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(escapeContent).join('')
  return String(content).replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')
}

/** An attribute, or nothing. */
export function attributeIf(isThere: boolean, attribute: string): Html | undefined {
  return isThere ? new Html(` ${attribute}`) : undefined
}

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

interface ErrorDocument extends Pick<PlainDocument, 'title' | 'nonce'> {
  readonly status: number
  readonly detail: string | undefined
  /** The error code, as in problem+json. */
  readonly code: string
  readonly requestId: string
  /** Where to continue; undefined = no link. */
  readonly link: { readonly href: string; readonly text: string } | undefined
}

/** The inline style of the error page, exported for the digest in its Content-Security-Policy. */
export const errorPageStyle = `
:root{color-scheme:light dark;--ground:#f6f7f8;--text:#14181c;--muted:#57616a;--accent:#0b6b5f}
@media (prefers-color-scheme:dark){:root{--ground:#0d1114;--text:#e8ecef;--muted:#9aa6ae;--accent:#4fd1b8}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;min-height:100dvh;display:grid;place-content:center;padding:1.5rem;background:var(--ground);color:var(--text);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
main{max-width:32rem}
.status{margin:0;color:var(--accent);font-weight:650}
h1{margin:.25rem 0 .75rem;font-size:1.5rem;line-height:1.25;letter-spacing:-.015em}
p{margin:0 0 1rem}
a{color:var(--accent);text-underline-offset:.2em}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:1.5rem 0 0;color:var(--muted);font-size:.875rem}
dd{margin:0;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
`

/** An error as a self-contained page, for a person in a browser. */
export function errorDocument({ status, title, detail, code, requestId, link, nonce }: ErrorDocument): Html {
  const body = html`<p class="status">${status}</p>
<h1>${title}</h1>
${detail !== undefined && html`<p>${detail}</p>`}
${link && html`<p><a href="${link.href}">${link.text}</a></p>`}
<dl><dt>Code</dt><dd>${code}</dd><dt>Request ID</dt><dd>${requestId}</dd></dl>`
  return plainDocument({ title: `${status} ${title}`, body, nonce })
}

interface PlainDocument {
  readonly title: string
  readonly body: Html
  /** Nonce of the style; undefined = the Content-Security-Policy has its digest. */
  readonly nonce?: string | undefined
}

/** A self-contained page with a few paragraphs. */
export function plainDocument({ title, body, nonce }: PlainDocument): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style${nonce !== undefined && html` nonce="${nonce}"`}>${rawHtml(errorPageStyle)}</style>
<link rel="icon" href="${rawHtml(faviconUrl)}">
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`
}
