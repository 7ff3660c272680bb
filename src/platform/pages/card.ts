import { type Content, type Html, html } from './html.ts'

/** A section of a page with its own heading. */
export function card(content: {
  readonly title: string
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
