import { card } from '#platform/pages/card.ts'
import { formatCount, formatMilliseconds, formatRate } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { historyMs, type Point } from './history.ts'
import { clockTime, type Line, plot } from './plot.ts'
import { type Cell, table } from './table.ts'

/** How many reasons get their own line; the others share one. */
const reasonsMax = 4
const rowMs = 300_000

/** The last hour as plots, and as a table for screen readers and for copying. */
export function plotsCard(points: readonly Point[], now: number): Html {
  const lead = '15-second intervals, times in UTC.'
  if (points.length === 0)
    return card({
      title: 'Last hour',
      body: html`<p class="muted">The first data point appears after 15 seconds.</p>`,
    })
  const times = points.map(({ at }) => Date.parse(at))
  const common = { times, from: now - historyMs, to: now }
  const rate = (value: number) => `${formatRate(value, 1)}/s`
  const all = [
    {
      id: 'requests',
      title: 'Requests per second',
      description: `All requests, and those answered 5xx. ${peakText(
        points.map(({ requests, seconds }) => requests / seconds),
        rate,
      )}`,
      lines: [
        { name: 'all', values: points.map(({ requests, seconds }) => requests / seconds) },
        { name: '5xx', values: points.map(({ failed, seconds }) => failed / seconds) },
      ],
      format: rate,
    },
    {
      id: 'refusals',
      title: 'Refusals per second, by reason',
      description: `Requests refused for their credential, role or rate. ${peakText(
        points.map((point) => refusedOf(point) / point.seconds),
        rate,
      )}`,
      lines: refusalLines(points),
      format: rate,
    },
    {
      id: 'latency',
      title: 'Latency',
      description: `From request head to end of response: median and 99th percentile. ${peakText(
        points.map(({ latencyMs }) => latencyMs?.p99 ?? 0),
        formatMilliseconds,
      )}`,
      lines: quantileLines(points, 'latencyMs'),
      format: formatMilliseconds,
    },
    {
      id: 'overhead',
      title: 'Gateway overhead',
      description: `Time the gateway adds to proxied requests: median and 99th percentile. ${peakText(
        points.map(({ overheadMs }) => overheadMs?.p99 ?? 0),
        formatMilliseconds,
      )}`,
      lines: quantileLines(points, 'overheadMs'),
      format: formatMilliseconds,
    },
  ]
  return card({
    title: 'Last hour',
    lead,
    isFlush: true,
    body: html`<div class="body plots">${all.map((one) => plot({ ...common, ...one }))}</div>
<details class="numbers" id="numbers"><summary>Last hour as a table</summary>${numbersTable(points)}</details>`,
  })
}

function peakText(values: readonly number[], format: (value: number) => string): string {
  return `Max ${format(Math.max(...values))}, latest ${format(values.at(-1) ?? 0)}.`
}

function quantileLines(points: readonly Point[], quantiles: 'latencyMs' | 'overheadMs'): readonly Line[] {
  return (['p50', 'p99'] as const).map((name) => ({
    name,
    values: points.map((point) => point[quantiles]?.[name] ?? null),
  }))
}

function refusedOf({ refusals }: Point): number {
  return Object.values(refusals).reduce((sum, count) => sum + count, 0)
}

/** A line for each of the most frequent reasons of the hour, and one for the rest. */
function refusalLines(points: readonly Point[]): readonly Line[] {
  const totals = totalsOf(points)
  const reasons = totals.slice(0, reasonsMax).map(([reason]) => reason)
  const lines = reasons.map((reason) => ({
    name: reason,
    values: points.map(({ refusals, seconds }) => (refusals[reason] ?? 0) / seconds),
  }))
  if (lines.length === 0) return [{ name: 'none', values: points.map(() => 0) }]
  if (totals.length <= reasonsMax) return lines
  const rest = (point: Point) =>
    refusedOf(point) - reasons.reduce((sum, reason) => sum + (point.refusals[reason] ?? 0), 0)
  return [...lines, { name: 'other reasons', values: points.map((point) => rest(point) / point.seconds) }]
}

/** Most frequent first. */
function totalsOf(points: readonly Point[]): readonly (readonly [reason: string, count: number])[] {
  const totals = new Map<string, number>()
  for (const { refusals } of points) {
    for (const [reason, count] of Object.entries(refusals))
      totals.set(reason, (totals.get(reason) ?? 0) + count)
  }
  return [...totals].toSorted(([, a], [, b]) => b - a)
}

/** Five-minute rows, the latest first. */
function numbersTable(points: readonly Point[]): Html {
  const byTime = Map.groupBy(points, ({ at }) => Math.floor((Date.parse(at) - 1) / rowMs) * rowMs)
  const head = [
    'From',
    'Requests',
    'Requests/s',
    '5xx',
    'Refused',
    'Refusal reasons',
    'Max p99',
    'Overhead, max p99',
  ]
  const rows = [...byTime]
    .toSorted(([a], [b]) => b - a)
    .map(([from, group]): readonly Cell[] => {
      const sum = (select: (point: Point) => number) =>
        group.reduce((total, point) => total + select(point), 0)
      const highest = (select: (point: Point) => number | undefined) => {
        const known = group.flatMap((point) => select(point) ?? [])
        return {
          content: formatMilliseconds(known.length === 0 ? undefined : Math.max(...known)),
          kind: 'number',
        }
      }
      const count = (value: number) => ({ content: formatCount(value), kind: 'number' })
      const requests = sum(({ requests }) => requests)
      return [
        { content: clockTime(from) },
        count(requests),
        {
          content: formatRate(
            requests,
            sum(({ seconds }) => seconds),
          ),
          kind: 'number',
        },
        count(sum(({ failed }) => failed)),
        count(sum(refusedOf)),
        {
          content:
            totalsOf(group)
              .map(([reason, times]) => `${reason} ${formatCount(times)}`)
              .join(', ') || '–',
        },
        highest(({ latencyMs }) => latencyMs?.p99),
        highest(({ overheadMs }) => overheadMs?.p99),
      ]
    })
  return table(head, rows)
}
