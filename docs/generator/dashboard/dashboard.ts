import { openMetrics } from '#ops/metrics/metrics.ts'
import { type Panel, type Row, rows } from './rows.ts'

/** Grafana's grid: 24 columns, about 30 pixels a row. */
const columns = 24
const rowHeight = 1
const sizes = { figure: { width: 3, height: 4 }, graph: { width: 12, height: 8 } } as const

const datasource = { type: 'prometheus', uid: '$datasource' }
const [good, bad] = ['green', 'red']
/** A value without requests. */
const nothing = '–'

interface Place {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

/** A dashboard to import into Grafana 10 or newer; which Prometheus it asks is chosen above it. */
export async function dashboardJson(): Promise<string> {
  const described = await openMetrics({ version: '' }).describe()
  const helps = new Map(described.map(({ name, help }) => [name, help]))
  const dashboard = {
    uid: 'gatehouse',
    title: 'Gatehouse',
    tags: ['gatehouse'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    templating: { list: variables() },
    annotations: { list: [] },
    panels: place(rows).map(({ item, ...at }, index) => ({ id: index + 1, ...draw(item, at, helps) })),
  }
  return `${JSON.stringify(dashboard, undefined, 2)}\n`
}

function variables(): readonly object[] {
  const build = 'gatehouse_build_info'
  return [
    { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
    { name: 'job', label: 'Job', ...valuesOf(`label_values(${build}, job)`) },
    {
      name: 'instance',
      label: 'Instance',
      ...valuesOf(`label_values(${build}{job="$job"}, instance)`),
      ...all,
    },
  ]
}

/** A variable that may have several values, by default all. */
const all = { multi: true, includeAll: true, allValue: '.*', current: { text: 'All', value: '$__all' } }

function valuesOf(query: string): object {
  const [onTimeRange, alphabetical] = [2, 1]
  const asked = { query, refId: 'values' }
  return { type: 'query', datasource, query: asked, refresh: onTimeRange, sort: alphabetical }
}

interface Placed extends Place {
  readonly item: Row | Panel
}

/** From left to right, then below; a row starts a new line. */
function place(all: readonly Row[]): readonly Placed[] {
  const placed: Placed[] = []
  let y = 0
  for (const row of all) {
    placed.push({ item: row, x: 0, y, w: columns, h: rowHeight })
    y += rowHeight
    let [x, lineHeight] = [0, 0]
    for (const item of row.panels) {
      const { width: w, height: h } = sizes[item.kind]
      if (x + w > columns) [x, y, lineHeight] = [0, y + lineHeight, 0]
      placed.push({ item, x, y, w, h })
      x += w
      lineHeight = Math.max(lineHeight, h)
    }
    y += lineHeight
  }
  return placed
}

function draw(item: Row | Panel, gridPos: Place, helps: ReadonlyMap<string, string>): object {
  if ('panels' in item) return { type: 'row', title: item.title, collapsed: false, gridPos, panels: [] }
  const { kind, title, description = describe(item, helps) } = item
  const targets = item.queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource,
    expr,
    legendFormat: legend,
  }))
  const shape = kind === 'figure' ? figureOf(item) : graphOf(item)
  return { title, description, datasource, gridPos, targets, ...shape }
}

/** The help texts of the metrics. */
function describe({ queries }: Panel, helps: ReadonlyMap<string, string>): string {
  const names = queries.flatMap(({ expr }) => expr.match(/gatehouse_\w+?(?=_bucket\{|_count\{|\{)/g) ?? [])
  return [...new Set(names)].map((name) => helps.get(name) ?? '').join(' ')
}

function figureOf({ unit, badFrom, badBelow, words = {} }: Panel): object {
  const steps = [
    { color: badBelow === undefined ? good : bad, value: null },
    ...(badBelow === undefined ? [] : [{ color: good, value: badBelow }]),
    ...(badFrom === undefined ? [] : [{ color: bad, value: badFrom }]),
  ]
  const mappings = [
    ...Object.entries(words).map(([value, text]) => ({ type: 'value', options: { [value]: { text } } })),
    { type: 'special', options: { match: 'nan', result: { text: nothing } } },
  ]
  return {
    type: 'stat',
    fieldConfig: {
      defaults: { unit, mappings, noValue: nothing, thresholds: { mode: 'absolute', steps } },
      overrides: [],
    },
    options: {
      colorMode: 'value',
      graphMode: 'none',
      textMode: 'value',
      justifyMode: 'center',
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    },
  }
}

function graphOf({ unit, isStacked = false }: Panel): object {
  const stacking = { mode: isStacked ? 'normal' : 'none', group: 'A' }
  const custom = {
    drawStyle: 'line',
    lineWidth: 1,
    fillOpacity: isStacked ? 30 : 10,
    showPoints: 'never',
    stacking,
  }
  return {
    type: 'timeseries',
    fieldConfig: { defaults: { unit, min: 0, custom }, overrides: [] },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  }
}
