import { card } from '#platform/pages/card.ts'
import { formatRate } from '#platform/pages/format.ts'
import type { Html } from '#platform/pages/html.ts'
import type { Figures } from './figures.ts'
import { type Cell, numberCell, table } from './table.ts'

type Counts = Pick<Figures, 'requests' | 'refused' | 'clientErrors' | 'failed'>

/** What each listener was asked; false where only the main one was. */
export function listenersCard(figures: Figures, seconds: number): Html | false {
  const { decide } = figures
  if (!decide) return false
  const main: Counts = {
    requests: figures.requests - decide.requests,
    refused: figures.refused - decide.refused,
    clientErrors: figures.clientErrors - decide.clientErrors,
    failed: figures.failed - decide.failed,
  }
  const rowOf = (name: string, counts: Counts): readonly Cell[] => [
    { content: name },
    numberCell(counts.requests),
    { content: formatRate(counts.requests, seconds), kind: 'number' },
    numberCell(counts.refused, 'warn'),
    numberCell(counts.clientErrors),
    numberCell(counts.failed, 'bad'),
  ]
  const head = ['Listener', 'Requests', 'Requests/s', 'Refused', 'Other 4xx', '5xx']
  const rows = [rowOf('Main', main), rowOf('Decide, for other proxies', decide)]
  return card({ title: 'Listeners', isFlush: true, body: table(head, rows) })
}
