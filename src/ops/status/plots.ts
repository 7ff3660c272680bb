import { formatCount, formatMilliseconds, formatRate } from '#platform/pages/format.ts'
import { card, type Html, html, rawHtml } from '#platform/pages/html.ts'
import { historyMs, type Point } from './history.ts'
import { type Cell, millisecondsCell, numberCell, rateCell, table } from './status-tables.ts'

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
  const perSecond = (countOf: (point: Point) => number) =>
    points.map((point) => countOf(point) / point.seconds)
  const quantilesOf = (quantiles: 'latencyMs' | 'overheadMs') => ({
    lines: quantileLines(points, quantiles),
    peaks: points.map((point) => point[quantiles]?.p99 ?? 0),
    format: formatMilliseconds,
  })
  const all = [
    {
      id: 'requests',
      title: 'Requests per second',
      description: 'All requests, and those answered 5xx.',
      lines: [
        { name: 'all', values: perSecond(({ requests }) => requests) },
        { name: '5xx', values: perSecond(({ failed }) => failed) },
      ],
      peaks: perSecond(({ requests }) => requests),
      format: rate,
    },
    {
      id: 'refusals',
      title: 'Refusals per second, by reason',
      description: 'Requests refused for their credential, role or rate.',
      lines: refusalLines(points),
      peaks: perSecond(refusedOf),
      format: rate,
    },
    {
      id: 'latency',
      title: 'Latency',
      description: 'From request head to end of response, of all requests: median and 99th percentile.',
      ...quantilesOf('latencyMs'),
    },
    {
      id: 'overhead',
      title: 'Gateway overhead',
      description: 'Time the gateway adds to forwarded requests: median and 99th percentile.',
      ...quantilesOf('overheadMs'),
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
        return millisecondsCell(known.length === 0 ? undefined : Math.max(...known))
      }
      const requests = sum(({ requests }) => requests)
      return [
        { content: clockTime(from) },
        numberCell(requests),
        rateCell(
          requests,
          sum(({ seconds }) => seconds),
        ),
        numberCell(sum(({ failed }) => failed)),
        numberCell(sum(refusedOf)),
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

interface Line {
  readonly name: string
  /** null = nothing was measured, which leaves a gap in the line. */
  readonly values: readonly (number | null)[]
}

interface Plot {
  /** Unique on the page. */
  readonly id: string
  readonly title: string
  /** A description for screen readers, who are also told the highest and the last of the peaks. */
  readonly description: string
  readonly peaks: readonly number[]
  /** At most 5. */
  readonly lines: readonly Line[]
  /** When the values were measured, and the period that the plot covers; milliseconds since 1970. */
  readonly times: readonly number[]
  readonly from: number
  readonly to: number
  /** As text, with the unit. */
  format(value: number): string
}

/** The view box, which is stretched to fit: only lines are drawn in it, and the text beside it is HTML. */
const width = 1_000
const height = 200

/** A line plot over time as SVG, with a scale and a legend. */
function plot({ id, title, description, lines, peaks, times, from, to, format }: Plot): Html {
  const max = roundUp(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))))
  const toX = (time: number) => Math.round(((time - from) / (to - from)) * width)
  const toY = (value: number) => Math.round((height - (value / max) * height) * 10) / 10
  return html`<figure class="plot">
<figcaption>${title}</figcaption>
<div class="plane">
<div class="scale"><span>${format(max)}</span><span>${format(max / 2)}</span><span>0</span></div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-text"><title id="${id}-title">${title}</title><desc id="${id}-text">${description} Max ${format(Math.max(...peaks))}, latest ${format(peaks.at(-1) ?? 0)}.</desc>
<path class="grid" d="M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}"/>
${lines.map(({ values }, index) => rawHtml(`<path class="line line-${index + 1}" d="${path(values)}"/>`))}</svg>
<div class="times">${[0, 0.25, 0.5, 0.75, 1].map((share) => html`<span>${clockTime(from + (to - from) * share)}</span>`)}</div>
</div>
<ul class="legend">${lines.map(
    ({ name, values }, index) =>
      html`<li><svg viewBox="0 0 24 8" aria-hidden="true"><path class="line line-${index + 1}" d="M0 4H24"/></svg>${name} <span class="muted">${latest(values)}</span></li>`,
  )}</ul>
</figure>`

  function path(values: readonly (number | null)[]): string {
    let isPenDown = false
    return values
      .map((value, index) => {
        const at = `${toX(times[index] ?? to)} ${toY(value ?? 0)}`
        const step = value === null ? '' : isPenDown ? `L${at}` : `M${at}h.1`
        isPenDown = value !== null
        return step
      })
      .join('')
  }

  function latest(values: readonly (number | null)[]): string {
    const value = values.at(-1)
    return value === null || value === undefined ? '–' : format(value)
  }
}

/** The next of 1, 2, 5, 10, 20, …; 1 for 0. */
function roundUp(value: number): number {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => value <= step * power) ?? 10) * power
}

/** Such as `14:05`, in UTC. */
function clockTime(at: number): string {
  return new Date(at).toISOString().slice(11, 16)
}
