import {
  attributeIf,
  type Content,
  faviconUrl,
  type Html,
  html,
  type IconName,
  icon,
  notice,
  rawHtml,
} from '#platform/pages/html.ts'
import type { Texts } from '../texts/texts.ts'
import { form } from './form.ts'
import type { PageFrame, PageViewer } from './frame.ts'

interface PageLayout {
  /** The title of the document, and the heading. */
  readonly title: string
  /** The navigation entry that the page belongs to. */
  readonly section?: Section | undefined
  readonly lead?: Content
  readonly body: Content
  /** Beside the heading. */
  readonly actions?: Content
  readonly breadcrumb?: { readonly href: string; readonly text: string }
}

interface NavEntry {
  readonly path: keyof Texts['layout']['sections']
  readonly icon: IconName
}

const ownSections = [
  { path: '/integration', icon: 'key' },
  { path: '/usage', icon: 'usage' },
  { path: '/sessions', icon: 'sessions' },
  { path: '/profile', icon: 'profile' },
] as const satisfies readonly NavEntry[]

const adminSections = [
  { path: '/accounts', icon: 'accounts' },
  { path: '/audit', icon: 'audit' },
] as const satisfies readonly NavEntry[]

type Section = (typeof ownSections | typeof adminSections)[number]['path']

/** The layout for a signed-in viewer. */
export function page(frame: PageFrame, content: PageLayout): Html {
  const { title, section, lead, body, actions, breadcrumb } = content
  return htmlDocument(
    frame,
    title,
    html`<div class="frame">
${sidebar(frame, section)}
<main id="main" tabindex="-1">
${breadcrumb && html`<a class="breadcrumb" href="${frame.base}${breadcrumb.href}">${icon('back')}${breadcrumb.text}</a>`}
<div class="top"><div><h1>${title}</h1>${lead !== undefined && html`<p>${lead}</p>`}</div>${
      actions !== undefined && html`<div class="row">${actions}</div>`
    }</div>
${frame.notice && notice(frame.notice.kind, frame.notice.text)}
<div class="stack">${body}</div>
</main></div>`,
  )
}

/** The layout for a visitor who is not signed in: one card. @param content `after` stands below the card */
export function signedOutPage(
  frame: PageFrame,
  { title, lead, body, after }: Pick<PageLayout, 'title' | 'lead' | 'body'> & { readonly after?: Content },
): Html {
  return htmlDocument(
    frame,
    title,
    html`<div class="signed-out"><header>${brandLink(frame)}</header>
<main id="main" tabindex="-1">
${frame.notice && notice(frame.notice.kind, frame.notice.text)}
<h1>${title}</h1>${lead !== undefined && html`<p class="muted">${lead}</p>`}
<div class="card"><div class="body">${body}</div></div>${
      after !== undefined &&
      html`
<p class="after">${after}</p>`
    }
</main></div>`,
  )
}

function htmlDocument(frame: PageFrame, title: string, body: Html): Html {
  const { assets, nonce, formPagePath, language, texts } = frame
  return html`<!doctype html>
<html lang="${language}"${formPagePath !== undefined && html` data-form-page="${formPagePath}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · ${frame.brand}</title>
<link rel="stylesheet" href="${assets.style}" nonce="${nonce}">
<link rel="icon" href="${assets.logo ?? rawHtml(faviconUrl)}">
<script src="${assets.scripts[language]}" nonce="${nonce}" defer></script>
</head>
<body>
<a class="skip" href="#main">${texts.layout.skipToContent}</a>
${body}
</body>
</html>
`
}

function brandLink({ base, brand, assets: { logo } }: PageFrame): Html {
  const content =
    logo === undefined ? html`${icon('gate')}${brand}` : html`<img src="${logo}" alt="${brand}">`
  return html`<a class="brand" href="${base}">${content}</a>`
}

function sidebar(frame: PageFrame, section: Section | undefined): Html {
  const { viewer } = frame
  const texts = frame.texts.layout
  return html`<header class="side">${brandLink(frame)}
<nav aria-label="${texts.navigation}"><ul class="nav">
${ownSections.map((entry) => navEntry(frame, entry, section))}
${
  viewer?.isAdmin === true &&
  html`<li class="group" aria-hidden="true">${texts.administration}</li>${adminSections.map((entry) => navEntry(frame, entry, section))}`
}
</ul></nav>
${viewer && signedInUser(frame, viewer)}
</header>`
}

function navEntry(
  { base, texts }: PageFrame,
  { path, icon: name }: NavEntry,
  section: Section | undefined,
): Html {
  return html`<li><a href="${base}${path}"${attributeIf(path === section, 'aria-current="page"')}>${icon(name)}<span>${texts.layout.sections[path]}</span></a></li>`
}

function signedInUser(frame: PageFrame, { email, name }: PageViewer): Html {
  return html`<div class="who"><p>${name !== '' && html`<strong>${name}</strong>`}<span class="muted">${email}</span></p>
${form(frame, { action: '/sign-out', body: html`<button class="small">${icon('leave')}${frame.texts.layout.signOut}</button>` })}</div>`
}
