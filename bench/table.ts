import { ratiosOf, spreadOf, writeSpread } from './figures.ts'
import type { Result } from './results.ts'

const ownLabel = 'gatehouse'

/**
 * A Markdown table of a result: medians (least–most) and ratios to the yardsticks within each run; where another
 * checkout was measured too, also to the same contestant of that.
 */
export function tableOf(result: Result, otherLabel?: string): string {
  const { contestants, figures, yardsticks } = result
  const present = yardsticks.filter((name) => contestants[name])
  const kinds = Object.values(figures)
  const head = ['', ...kinds.map(({ title }) => title), ...present.map((name) => `× ${name}`)]
  if (otherLabel !== undefined) head.push(`× the same of ${otherLabel}`)
  const rows = Object.keys(contestants).map((name) => [
    name,
    ...Object.entries(figures).map(([figure, { digits }]) =>
      writeSpread(spreadOf(figuresOf(result, name, figure)), digits),
    ),
    ...present.map((yardstick) => ratioOf(result, name, yardstick)),
    ...(otherLabel === undefined ? [] : [ratioOf(result, name, withLabel(name, ownLabel, otherLabel))]),
  ])
  return align([head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...rows])
}

/** The name that a contestant of one checkout has in another. */
export function withLabel(name: string, label: string, other: string): string {
  return name === label || name.startsWith(`${label}:`) ? `${other}${name.slice(label.length)}` : name
}

function figuresOf({ contestants }: Result, name: string, figure: string): readonly number[] {
  return (contestants[name] ?? []).map((figures) => figures[figure] ?? Number.NaN)
}

function ratioOf(result: Result, name: string, yardstick: string): string {
  if (name === yardstick || !result.contestants[yardstick]) return ''
  const own = figuresOf(result, name, result.compared)
  return writeSpread(spreadOf(ratiosOf(own, figuresOf(result, yardstick, result.compared))), 2)
}

/** Columns of even width, so that it reads well in a terminal too. */
function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
    .join('\n')
}
