import { formatCount, formatMilliseconds, formatRate } from '#platform/pages/format.ts'
import { type Content, card, type Html, html } from '#platform/pages/html.ts'
import type { Figures } from './figures.ts'

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

export function rateCell(count: number, seconds: number): Cell {
  return { content: formatRate(count, seconds), kind: 'number' }
}

export function millisecondsCell(value: number | undefined): Cell {
  return { content: formatMilliseconds(value), kind: 'number' }
}

/** The requests of each listener; false if only the main one had any. */
export function listenersCard(figures: Figures, seconds: number): Html | false {
  const { decide } = figures
  if (!decide) return false
  const main = {
    requests: figures.requests - decide.requests,
    refused: figures.refused - decide.refused,
    clientErrors: figures.clientErrors - decide.clientErrors,
    failed: figures.failed - decide.failed,
  }
  const rows = [
    [{ content: 'Main' }, ...countCells(main, seconds)],
    [{ content: 'Decide, for other proxies' }, ...countCells(decide, seconds)],
  ]
  return card({ title: 'Listeners', isFlush: true, body: table(['Listener', ...countTitles], rows) })
}

/** Rows of further routes would take longer to write than all other figures, while requests wait. */
const routesShownMax = 200

export function routesCard({ routes }: Figures, seconds: number): Html {
  const isCut = routes.length > routesShownMax
  const shown = isCut ? busiestOf(routes) : routes
  const head = ['Route', ...countTitles, 'p50', 'p95', 'p99']
  const rows = shown.map((route) => [
    { content: html`<code>${route.name}</code>` },
    ...countCells(route, seconds),
    ...latencyCells(route.latencyMs),
  ])
  return card({
    title: 'Routes',
    ...(isCut && {
      lead: `The ${routesShownMax} with the most requests, of ${formatCount(routes.length)}. /status?json has all.`,
    }),
    isFlush: true,
    body: table(head, rows),
  })
}

/** In the order of the config. */
function busiestOf(routes: Figures['routes']): Figures['routes'] {
  const byRequests = routes.toSorted((a, b) => b.requests - a.requests)
  const busiest = new Set(byRequests.slice(0, routesShownMax))
  return routes.filter((route) => busiest.has(route))
}

const countTitles = ['Requests', 'Requests/s', 'Refused', 'Other 4xx', '5xx'] as const

function countCells(
  {
    requests,
    refused,
    clientErrors,
    failed,
  }: Pick<Figures, 'requests' | 'refused' | 'clientErrors' | 'failed'>,
  seconds: number,
): readonly Cell[] {
  return [
    numberCell(requests),
    rateCell(requests, seconds),
    numberCell(refused, 'warn'),
    numberCell(clientErrors),
    numberCell(failed, 'bad'),
  ]
}

export function latencyCells(latencyMs: Figures['latencyMs']): readonly Cell[] {
  return [latencyMs?.p50, latencyMs?.p95, latencyMs?.p99].map(millisecondsCell)
}
