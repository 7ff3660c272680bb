import { badge, type Content, type Html, html } from '#platform/pages/html.ts'
import { keyMarks } from '#platform/secrets/key-format.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import type { PageFrame } from './frame.ts'

export function verifiedBadge({ texts: { profile } }: PageFrame, isVerified: boolean): Html {
  return isVerified ? badge('good', profile.verified) : badge('warn', profile.notVerified)
}

/** A cell of a table; narrow screens show the label, as they show no headings. */
export function cell(label: string, content: Content): Html {
  return html`<td data-label="${label}"><div>${content}</div></td>`
}

/**
 * A masked key: only its kind, handle and end are visible, which are not secret. Its prefix is left out, as that of an
 * old key may differ from the current one.
 * @param lastFour '' = not kept
 */
export function maskKey(kind: KeyKind, accountId: string, lastFour = ''): string {
  return `…${keyMarks[kind]}_${accountId}_${'•'.repeat(6)}${lastFour}`
}

interface CodeOptions {
  readonly isWrapped?: boolean
  /** Has many lines, of which only some are visible at a time. */
  readonly isTall?: boolean
  /** Holds masked keys, so there is no copy button yet. */
  readonly isMasked?: boolean
  /** The name of the file that it can be saved as. */
  readonly saveAs?: string
}

/** Code under a heading, with a copy button that copies exactly the visible text. */
export function codeBlock(
  frame: PageFrame,
  heading: string,
  text: Content,
  { isWrapped = false, isTall = false, isMasked = false, saveAs }: CodeOptions = {},
): Html {
  return html`<div class="code${isWrapped && ' wrapped'}${isTall && ' tall'}${isMasked && ' masked'}"><div class="row"><h3>${heading}</h3>${saveAs !== undefined && saveButton(frame, heading, saveAs)}${copyButton(frame, heading)}</div><pre tabindex="0" role="region" aria-label="${heading}"><code>${text}</code></pre></div>`
}

/** Copies the code beside it. Hidden until the script enables it, as it does not work without. */
export function copyButton({ texts: { parts, script } }: PageFrame, label: string): Html {
  return html`<button type="button" class="small" data-copy hidden aria-label="${parts.copy(label)}">${script.copy}</button>`
}

/** Saves the code as a file that the browser creates, so that the contents are in no URL of the history. */
function saveButton({ texts: { parts } }: PageFrame, label: string, name: string): Html {
  return html`<button type="button" class="small" data-save="${name}" hidden aria-label="${parts.saveAs(label)}">${parts.save}</button>`
}

/**
 * Links from one page of a list to the first and the next one; nothing if there is only one page.
 * @param hrefOf the page that begins at a cursor; undefined = the first
 */
export function pager(
  { texts: { parts } }: PageFrame,
  {
    label = parts.pages,
    isFirstPage,
    nextCursor,
    texts: [first, next],
    hrefOf,
  }: {
    readonly label?: string
    readonly isFirstPage: boolean
    readonly nextCursor: string | undefined
    readonly texts: readonly [first: string, next: string]
    hrefOf(cursor: string | undefined): string
  },
): Html | undefined {
  if (isFirstPage && nextCursor === undefined) return undefined
  return html`<nav class="pager" aria-label="${label}">${
    isFirstPage ? html`<span></span>` : html`<a class="button" href="${hrefOf(undefined)}">${first}</a>`
  }${nextCursor !== undefined && html`<a class="button" rel="next" href="${hrefOf(nextCursor)}">${next}</a>`}</nav>`
}

/** A row with the actions of the row above it, as wide as the table: their forms need the room. */
export function actsRow(columns: number, acts: Content): Html {
  return html`<tr class="acts"><td colspan="${columns}"><div class="acts-list">${acts}</div></td></tr>`
}

export function titleRow(titles: readonly Content[]): Html {
  return html`<thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>`
}
