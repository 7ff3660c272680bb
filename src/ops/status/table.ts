import { formatCount } from '#platform/pages/format.ts'
import { type Content, type Html, html } from '#platform/pages/html.ts'

export interface Cell {
  readonly content: Content
  /** The CSS classes of the cell. */
  readonly kind?: string
}

/** A table that becomes a list on a phone, each value beside the name of its column. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): Html {
  const kinds = rows[0] ?? []
  return html`<table><thead><tr>${head.map(
    (text, index) =>
      html`<th scope="col"${kinds[index]?.kind?.startsWith('number') && html` class="number"`}>${text}</th>`,
  )}</tr></thead><tbody>${rows.map(
    (cells) => html`<tr>${cells.map((cell, index) => tableCell(cell, head[index] ?? ''))}</tr>`,
  )}</tbody></table>`
}

function tableCell({ content, kind }: Cell, label: string): Html {
  if (content === '') return html`<td class="none"></td>`
  return html`<td data-label="${label}"${kind !== undefined && html` class="${kind}"`}><span>${content}</span></td>`
}

export function numberCell(value: number, kindIfNonZero?: 'warn' | 'bad'): Cell {
  const kind = value > 0 && kindIfNonZero !== undefined ? `number ${kindIfNonZero}` : 'number'
  return { content: formatCount(value), kind }
}
