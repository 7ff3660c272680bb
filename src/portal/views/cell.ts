import { type Html, html } from '#platform/pages/html.ts'

/** A cell of a table; narrow screens show the label, as they show no headings. */
export function cell(label: string, content: Html): Html {
  return html`<td data-label="${label}"><div>${content}</div></td>`
}
