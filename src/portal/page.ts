import { type Content, type Html, html, trusted, when } from '../pages/html.ts'
import { type IconName, icon, mark } from '../pages/icons.ts'
import { notice } from '../pages/notice.ts'
import { form } from './form.ts'
import type { Frame, PageViewer } from './frame.ts'

export interface PageContent {
  /** The title of the window, and the heading. */
  readonly title: string
  /** The entry of the navigation that the page belongs to. */
  readonly section?: Section | undefined
  readonly lead?: Content
  readonly body: Content
  /** Beside the heading. */
  readonly acts?: Content
  /** The link back to the page above. */
  readonly crumb?: { readonly href: string; readonly text: string }
}

interface Entry {
  readonly path: string
  readonly text: string
  readonly icon: IconName
}

const ownSections = [
  { path: '/integration', text: 'Integration', icon: 'key' },
  { path: '/sessions', text: 'Sessions', icon: 'sessions' },
  { path: '/profile', text: 'Profile', icon: 'profile' },
] as const satisfies readonly Entry[]

const adminSections = [
  { path: '/accounts', text: 'Accounts', icon: 'accounts' },
  { path: '/audit', text: 'Audit', icon: 'audit' },
] as const satisfies readonly Entry[]

export type Section = (typeof ownSections | typeof adminSections)[number]['path']

/** A page for somebody who is signed in. */
export function page(frame: Frame, content: PageContent): Html {
  const { title, section, lead, body, acts, crumb } = content
  return document(
    frame,
    title,
    html`<div class="frame">
${side(frame, section)}
<main id="main" tabindex="-1">
${crumb && html`<a class="crumb" href="${frame.base}${crumb.href}">${icon('back')}${crumb.text}</a>`}
<div class="top"><div><h1>${title}</h1>${lead !== undefined && html`<p>${lead}</p>`}</div>${
      acts !== undefined && html`<div class="row">${acts}</div>`
    }</div>
${frame.notice && notice(frame.notice.kind, frame.notice.text)}
<div class="stack">${body}</div>
</main></div>`,
  )
}

/** A page for somebody who is not signed in. */
export function doorPage(
  frame: Frame,
  { title, lead, body }: { readonly title: string; readonly lead?: Content; readonly body: Content },
): Html {
  return document(
    frame,
    title,
    html`<div class="door"><header><a class="brand" href="${frame.base}">${icon('gate')}Gatehouse</a></header>
<main id="main" tabindex="-1">
${frame.notice && notice(frame.notice.kind, frame.notice.text)}
<h1>${title}</h1>${lead !== undefined && html`<p class="muted">${lead}</p>`}
${body}
</main></div>`,
  )
}

function document(frame: Frame, title: string, body: Html): Html {
  const { assets, nonce, home } = frame
  return html`<!doctype html>
<html lang="en"${home !== undefined && html` data-home="${home}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Gatehouse</title>
<link rel="stylesheet" href="${assets.style}" nonce="${nonce}">
<link rel="icon" href="${trusted(mark)}">
<script src="${assets.script}" nonce="${nonce}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
${body}
</body>
</html>
`
}

function side(frame: Frame, section: Section | undefined): Html {
  const { viewer, base } = frame
  return html`<header class="side"><a class="brand" href="${base}">${icon('gate')}Gatehouse</a>
<nav aria-label="Portal"><ul class="nav">
${ownSections.map((entry) => navEntry(base, entry, section))}
${
  viewer?.isAdmin === true &&
  html`<li class="group" aria-hidden="true">Administration</li>${adminSections.map((entry) => navEntry(base, entry, section))}`
}
</ul></nav>
${viewer && whoIsSignedIn(frame, viewer)}
</header>`
}

function navEntry(base: string, { path, text, icon: name }: Entry, section: Section | undefined): Html {
  return html`<li><a href="${base}${path}"${when(path === section, 'aria-current="page"')}>${icon(name)}<span>${text}</span></a></li>`
}

function whoIsSignedIn(frame: Frame, { email, name }: PageViewer): Html {
  return html`<div class="who"><p>${name !== '' && html`<strong>${name}</strong>`}<span class="muted">${email}</span></p>
${form(frame, { action: '/sign-out', body: html`<button class="small">${icon('leave')}Sign out</button>` })}</div>`
}
