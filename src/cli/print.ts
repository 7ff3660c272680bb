import { OperatorError } from '#platform/errors/operator-error.ts'
import { type Invocation, type Terminal, UsageError } from './command.ts'

/**
 * Prints data: as JSON with --json, else as text.
 * @param lines a function = the lines are built only if they are printed
 */
export function printData(
  { asJson, terminal }: Pick<Invocation, 'asJson' | 'terminal'>,
  data: unknown,
  lines: readonly string[] | (() => readonly string[]),
): void {
  if (asJson) print(terminal, [JSON.stringify(data, undefined, 2)])
  else print(terminal, typeof lines === 'function' ? lines() : lines)
}

export function print({ out }: Terminal, lines: readonly string[]): void {
  out.write(`${lines.join('\n')}\n`)
}

/**
 * To be called once new keys were printed. Why that failed is said by main.ts.
 * @param what such as `the account exists, but its keys`
 * @param hint how to get keys nevertheless
 * @throws OperatorError where they could not be, as they are valid but nobody has them
 */
export async function assertKeysPrinted({ out }: Terminal, what: string, hint: string): Promise<void> {
  await out.flushed?.()
  if (out.failure) throw new OperatorError(`${what} could not be printed`, { hint })
}

/** For the two keys that an account begins with. */
export const unprintedKeysHint =
  'Show them with gatehouse keys show, or replace them: gatehouse keys reset-secret, keys reset-api'

export function printToStderr({ err }: Terminal, line: string): void {
  err.write(`${line}\n`)
}

/** What a column shows of a row; nothing and the empty text are shown as a dash. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null | undefined>>

/** Prints a list: as JSON with --json, else as a table. */
export function printList<Row>(
  invocation: Pick<Invocation, 'asJson' | 'terminal'>,
  rows: readonly Row[],
  shown: { readonly columns: Columns<Row>; readonly whenEmpty: string },
): void {
  printData(invocation, rows, () => table(rows, shown))
}

/** A table with headings; `whenEmpty` if it has no rows. */
export function table<Row>(
  rows: readonly Row[],
  { columns, whenEmpty }: { readonly columns: Columns<Row>; readonly whenEmpty: string },
): readonly string[] {
  if (rows.length === 0) return [whenEmpty]
  const all = [Object.keys(columns), ...tableCells(rows, columns)]
  const widths = columnWidths(all)
  return all.map((row) => tableRow(row, widths))
}

function tableCells<Row>(rows: readonly Row[], columns: Columns<Row>): readonly (readonly string[])[] {
  return rows.map((row) => Object.values(columns).map((show) => String(show(row) ?? '') || '-'))
}

/** How wide each column must be. */
function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  return (rows[0] ?? []).map((_, column) => widthOf(rows, column))
}

function tableRow(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((cell, column) => cell.padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd()
}

/** Two columns, the second aligned. @param leftWidthMax texts that are wider do not move the second column */
export function twoColumns(
  rows: readonly (readonly [string, string])[],
  leftWidthMax = Number.POSITIVE_INFINITY,
): string[] {
  const widths = rows.map(([left]) => left.length).filter((width) => width <= leftWidthMax)
  const width = Math.max(0, ...widths) + 2
  return rows.map(([left, right]) => `  ${left.padEnd(Math.max(width, left.length + 2))}${right}`.trimEnd())
}

/** A loop: Math.max cannot take as many arguments as there may be rows. */
function widthOf(rows: readonly (readonly string[])[], column: number): number {
  let width = 0
  for (const row of rows) width = Math.max(width, row[column]?.length ?? 0)
  return width
}

/** Names and values, aligned. */
export function fieldLines(entries: Readonly<Record<string, string>>): string[] {
  return twoColumns(Object.entries(entries))
}

/** For commands that print a list. */
export const csvOption = {
  csv: {
    help: 'Prints CSV (RFC 4180) with a header. A cell that a spreadsheet would run as a formula begins with an apostrophe.',
  },
} as const

/** @throws UsageError with --json too */
export function wantsCsv({ asJson, flag }: Invocation): boolean {
  if (asJson && flag('csv')) throw new UsageError('--csv and --json exclude each other')
  return flag('csv')
}

/** The text of a list whose items come in batches, as all of them may not fit into memory. */
export interface ListFormat<Item> {
  batch(items: readonly Item[]): string
  /** After the last batch. */
  end(): string
}

/** One list in JSON. */
export function createJsonFormat<Item>(dataOf: (item: Item) => unknown): ListFormat<Item> {
  let isEmpty = true
  return {
    batch: (items) => {
      if (items.length === 0) return ''
      const texts = items.map((item) => JSON.stringify(dataOf(item), undefined, 2).replaceAll(/^/gm, '  '))
      const start = isEmpty ? '[' : ','
      isEmpty = false
      return `${start}\n${texts.join(',\n')}`
    },
    end: () => (isEmpty ? '[]\n' : '\n]\n'),
  }
}

/** A table whose columns are wide enough for the first batch, and for the widest cells that are known. */
export function createTableFormat<Item>({
  columns,
  widest = [],
  whenEmpty,
}: {
  readonly columns: Columns<Item>
  readonly widest?: readonly string[]
  readonly whenEmpty: string
}): ListFormat<Item> {
  let widths: readonly number[] | undefined
  return {
    batch: (items) => {
      const rows = tableCells(items, columns)
      const heading = widths ? [] : [Object.keys(columns)]
      const shown = widths ?? columnWidths([...heading, widest, ...rows])
      widths = shown
      return [...heading, ...rows].map((row) => `${tableRow(row, shown)}\n`).join('')
    },
    end: () => (widths ? '' : `${whenEmpty}\n`),
  }
}
