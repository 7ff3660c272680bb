import { type Html, html, rawHtml } from './html.ts'
import { faviconUrl } from './parts.ts'

interface ErrorDocument {
  readonly status: number
  readonly title: string
  readonly detail: string | undefined
  /** The error code, as in problem+json. */
  readonly code: string
  readonly requestId: string
  /** Where to continue; undefined = no link. */
  readonly link: { readonly href: string; readonly text: string } | undefined
  /** See PlainDocument. */
  readonly nonce?: string | undefined
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
