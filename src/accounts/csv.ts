import { CsvError, type Options, parse } from 'csv-parse/sync'

/** A record of a CSV file, and the line on which it begins; lines count from 1. */
interface CsvRecord {
  readonly line: number
  readonly cells: readonly string[]
}

/** Where a file stops being valid CSV, and why. */
interface CsvSyntaxError {
  readonly line: number
  readonly kind: keyof typeof csvErrorTexts
}

/** What people are told about a syntax error. */
export const csvErrorTexts = {
  'unclosed-quote': 'unclosed quote',
  'text-after-quote': 'text after a closing quote',
} as const

interface ParsedRecord {
  readonly record: readonly string[]
  /** The last line that has been read. */
  readonly info: { readonly lines: number }
}

const options = {
  relax_column_count: true,
  skip_empty_lines: true,
  trim: true,
  relax_quotes: true,
  info: true,
}

/** All records before the first syntax error, and the error. */
export function readCsv(file: string): {
  readonly records: readonly CsvRecord[]
  readonly fault?: CsvSyntaxError
} {
  // Between quotes the parser counts CR LF as more than one line.
  const text = file.replaceAll('\r\n', '\n')
  const lines = text.split(/\n|\r/)
  const records: CsvRecord[] = []
  let linesRead = 0
  function take({ record, info }: ParsedRecord): void {
    records.push({ line: firstLine(lines, linesRead), cells: record })
    linesRead = info.lines
  }
  try {
    // The cast is sound: with `info` each record comes with its position, which the types do not say.
    parse(text, { ...options, on_record: take as unknown as NonNullable<Options['on_record']> })
    return { records }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const kind = error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'unclosed-quote' : 'text-after-quote'
    return { records, fault: { line: firstLine(lines, linesRead), kind } }
  }
}

/** Where the next record begins: empty lines are skipped. */
function firstLine(lines: readonly string[], linesRead: number): number {
  let index = linesRead
  while (index < lines.length && lines[index]?.trim() === '') index++
  return index + 1
}

/** A file that is generated while it is sent. */
export interface FileDownload {
  /** Without characters that a quoted string would have to escape. */
  readonly name: string
  /** For Content-Type. */
  readonly type: string
  readonly chunks: AsyncGenerator<string>
}

/** A line of CSV (RFC 4180); cells that a spreadsheet would run as a formula (CSV injection) get an apostrophe. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** Writes each record as a line of an export: JSON, or CSV with these columns, whose header is `csvLine(columns)`. */
export function exportLine<Column extends string>(format: 'csv' | 'jsonl', columns: readonly Column[]) {
  return (record: Readonly<Record<Column, unknown>>): string =>
    format === 'csv'
      ? csvLine(columns.map((column) => cellText(record[column])))
      : `${JSON.stringify(record)}\n`
}

function cellText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}

function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
