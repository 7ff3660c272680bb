import type { Line } from '#platform/files.ts'
import { duplicateMember, isRecord, parseJson } from '#platform/json.ts'
import { didYouMean } from '#platform/text.ts'
import { csvErrorTexts, readCsv } from './csv.ts'

/** A record of an import file, or what is wrong with it; `line` is where it begins. */
export interface RecordLine<Input> {
  readonly line: number
  readonly input: Input | string
}

export interface RecordReader<Input> {
  /** The records and bad lines that end with this line. */
  read(line: Line): readonly RecordLine<Input>[]
  /** The records and bad lines that only the end of the file completes. */
  end(): readonly RecordLine<Input>[]
}

interface OpenRecord {
  /** Where it begins. */
  readonly line: number
  readonly text: string
  /** Whether it has been reported as bad already. */
  readonly isReported: boolean
}

/** In characters, for a record of several lines: it is parsed anew with each line. A longer one has an open quote. */
const recordLengthMax = 8_192
const tooLong = `more than ${recordLengthMax} characters in several lines: is a quote not closed?`

/** How the fields of a record become what is imported. */
interface RecordOptions<Input> {
  /** What a record describes, or all that is wrong with it. */
  parse(fields: Readonly<Record<string, unknown>>): Input | string
  /** What is wrong with the header of CSV; undefined = nothing. */
  findHeaderError(names: readonly string[]): string | undefined
}

/**
 * Reads records line by line, in constant memory: JSON lines, or CSV with a header, both with the same names of fields.
 * Nothing is read after a quote that is not closed.
 */
export function createRecordReader<Input>({
  parse,
  findHeaderError,
}: RecordOptions<Input>): RecordReader<Input> {
  let kind: 'json' | 'csv' | undefined
  let header: readonly string[] | undefined
  /** A record whose quotes are still open. */
  let open: OpenRecord | undefined
  let isOver = false

  function read({ line, text: raw, problem }: Line): readonly RecordLine<Input>[] {
    const text = line === 1 && raw.startsWith('\ufeff') ? raw.slice(1) : raw
    if (text.trim() !== '') kind ??= text.trimStart().startsWith('{') ? 'json' : 'csv'
    if (problem !== undefined) return [{ line, input: problem }, ...readBad(line, text)]
    if (isOver) return []
    if (open) return readMore(open, text)
    if (text.trim() === '') return []
    if (kind === 'json') return [{ line, input: readJsonLine(text, parse) }]
    return readRecord({ line, text, isReported: false })
  }

  /** A line that is reported as bad already. It may be within a record, or begin one. */
  function readBad(line: number, text: string): readonly RecordLine<Input>[] {
    if (open) return readMore(open, text)
    // Without a readable header the other lines cannot be understood.
    if (kind !== 'json' && !header) isOver = true
    return isOver || kind === 'json' ? [] : readRecord({ line, text, isReported: true })
  }

  /** Adds a line to a record with an open quote, which only a line with a quote can close. */
  function readMore(before: OpenRecord, text: string): readonly RecordLine<Input>[] {
    const record = { ...before, text: `${before.text}\n${text}` }
    if (text.includes('"') || record.text.length > recordLengthMax) return readRecord(record)
    open = record
    return []
  }

  function readRecord(record: OpenRecord): readonly RecordLine<Input>[] {
    const { line, text, isReported } = record
    if (!text.includes('"')) return isReported ? [] : readCells(line, splitCells(text))
    const isTooLong = text.length > recordLengthMax && text.includes('\n')
    const { records, fault } = isTooLong ? { records: [] } : readCsv(text)
    const isUnclosed = fault?.kind === 'unclosed-quote'
    open = isUnclosed && text.length <= recordLengthMax ? record : undefined
    if (open || isReported) return []
    isOver = isUnclosed || isTooLong
    if (isTooLong) return [{ line, input: tooLong }]
    return fault ? [{ line, input: csvErrorTexts[fault.kind] }] : readCells(line, records[0]?.cells ?? [])
  }

  function readCells(line: number, cells: readonly string[]): readonly RecordLine<Input>[] {
    if (!header) {
      header = cells
      const error = findHeaderError(cells)
      isOver = error !== undefined
      return error === undefined ? [] : [{ line, input: error }]
    }
    const names = header
    if (cells.length !== names.length) {
      return [{ line, input: `has ${cells.length} columns, but the header has ${names.length}` }]
    }
    const values = Object.fromEntries(names.map((name, column) => [name, cells[column]]))
    return [{ line, input: parse(values) }]
  }

  function end(): readonly RecordLine<Input>[] {
    return open && !open.isReported ? [{ line: open.line, input: csvErrorTexts['unclosed-quote'] }] : []
  }

  return { read, end }
}

/**
 * The texts of a record, '' where there is none. Adds what is wrong with its members to `errors`.
 * @param fields all that a record may have
 */
export function textsIn<Name extends string>(
  values: Readonly<Record<string, unknown>>,
  {
    names,
    fields,
    errors,
  }: { readonly names: readonly Name[]; readonly fields: readonly string[]; readonly errors: string[] },
): Readonly<Record<Name, string>> {
  const unknown = Object.keys(values).filter((name) => !fields.includes(name))
  errors.push(...unknown.map((name) => `${name}: unknown field${didYouMean(name, fields)}`))
  const texts = names.map((name) => {
    const value = values[name] ?? ''
    if (typeof value === 'string') return [name, value]
    errors.push(`${name}: must be text`)
    return [name, '']
  })
  // The cast is sound: every name has its text.
  return Object.fromEntries(texts) as Readonly<Record<Name, string>>
}

function splitCells(text: string): readonly string[] {
  return text.split(',').map((cell) => cell.trim())
}

function readJsonLine<Input>(text: string, parse: RecordOptions<Input>['parse']): Input | string {
  const value = parseJson(text)
  if (value === undefined) return 'is not valid JSON'
  if (!isRecord(value)) return 'is not a JSON object'
  const duplicate = duplicateMember(text)
  return duplicate === undefined ? parse(value) : `has the member ${duplicate} more than once`
}
