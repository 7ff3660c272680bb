import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import t from 'tap'
import { parse } from 'yaml'
import { openMetrics } from '#ops/metrics/metrics.ts'

interface Panel {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Alert {
  readonly alert: string
  readonly labels: { readonly severity: string }
  readonly expr: string
  readonly annotations: { readonly summary: string }
}

// The casts are sound: these are the project's own files.
const { panels } = JSON.parse(readFileSync('deploy/dashboards/grafana.json', 'utf8')) as {
  readonly panels: readonly Panel[]
}
const alerts = parse(readFileSync('deploy/dashboards/alerts.yaml', 'utf8')).groups[0]
  .rules as readonly Alert[]
const described = await openMetrics({ version: '' }).describe()

/** What a query asks for: words of PromQL, by the kind of node they are in its tree. */
function readQuery(query: string) {
  const text = query.replaceAll('$__rate_interval', '5m')
  const words = { metrics: [] as string[], labels: [] as string[], errors: [] as string[] }
  parser.parse(text).iterate({
    enter({ type, from, to }) {
      const word = text.slice(from, to)
      if (type.isError) words.errors.push(`at ${from}: ${text}`)
      if (type.name === 'Identifier') words.metrics.push(word)
      if (type.name === 'LabelName') words.labels.push(word)
    },
  })
  return words
}

/** The labels that samples of a metric have once Prometheus has scraped them; undefined: there is no such metric. */
function labelsOf(metric: string): readonly string[] | undefined {
  const scraped = ['job', 'instance']
  if (metric === 'up') return scraped
  for (const { name, type, labelNames } of described) {
    const own = [...scraped, ...labelNames]
    if (type !== 'histogram' && name === metric) return own
    if (type === 'histogram' && metric === `${name}_bucket`) return [...own, 'le']
    if (type === 'histogram' && (metric === `${name}_count` || metric === `${name}_sum`)) return own
  }
  return undefined
}

const queries = [
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ of: title, expr }))),
  ...alerts.map(({ alert, expr }) => ({ of: alert, expr })),
]

t.test('every dashboard query is PromQL over existing metrics and labels', async (t) => {
  t.ok(queries.length > alerts.length + 20)
  for (const { of, expr } of queries) {
    const { metrics, labels, errors } = readQuery(expr)
    t.strictSame(errors, [], of)
    t.not(metrics.length, 0, `${of} asks for something`)
    for (const metric of metrics) {
      const known = labelsOf(metric)
      t.ok(known, `${of}: ${metric} is a metric`)
      t.strictSame(
        labels.filter((label) => !known?.includes(label)),
        [],
        `${of}: labels of ${metric}`,
      )
    }
  }
})

t.test('the check of dashboard queries finds broken ones', async (t) => {
  t.not(readQuery('sum(rate(gatehouse_workers[5m])').errors.length, 0)
  t.equal(labelsOf('gatehouse_request_total'), undefined)
  t.equal(
    labelsOf('gatehouse_http_request_duration_seconds'),
    undefined,
    'a histogram has no sample of its name',
  )
  t.notOk(labelsOf('gatehouse_tokens_issued_total')?.includes('route'))
})

t.test('every metric of the gateway is on the dashboard', async (t) => {
  const shown = queries.flatMap(({ expr }) => readQuery(expr).metrics)
  const own = described.map(({ name }) => name).filter((name) => name.startsWith('gatehouse_'))
  t.strictSame(
    own.filter((name) => !shown.some((metric) => metric.replace(/_(?:bucket|count)$/, '') === name)),
    [],
  )
})

t.test('the manual says of every alert, in their order, what to do', async (t) => {
  const rows = readFileSync('docs/operators/monitoring.md', 'utf8').matchAll(
    /^\| `(Gatehouse\w+)` \| (\w+) \|/gm,
  )
  t.strictSame(
    [...rows].map(([, alert, severity]) => ({ alert, severity })),
    alerts.map(({ alert, labels: { severity } }) => ({ alert, severity })),
  )
})

t.test('legends and summaries use only labels that their queries keep', async (t) => {
  const kept = (expr: string) => {
    const { labels, metrics } = readQuery(expr)
    return /\bby \(/.test(expr) ? labels : metrics.flatMap((metric) => labelsOf(metric) ?? [])
  }
  for (const { title, targets = [] } of panels) {
    for (const { expr, legendFormat } of targets) {
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        t.ok(kept(expr).includes(label), `${title}: ${label}`)
      }
    }
  }
  for (const { alert, expr, annotations } of alerts) {
    for (const [, label = ''] of annotations.summary.matchAll(/\{\{ \$labels\.(\w+) \}\}/g)) {
      t.ok(kept(expr).includes(label), `${alert}: ${label}`)
    }
  }
})

t.test('dashboard panels do not overlap', async (t) => {
  const taken = new Map<string, string>()
  for (const { title, gridPos } of panels) {
    t.ok(gridPos.x + gridPos.w <= 24, title)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        const other = taken.get(`${x} ${y}`)
        if (other !== undefined) t.fail(`${title} lies upon ${other}`)
        taken.set(`${x} ${y}`, title)
      }
    }
  }
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'each has an ID of its own')
})
