import type { Line } from '#platform/files.ts'
import { duplicateMember, isRecord, parseJson } from '#platform/json.ts'
import type { AccountInput } from './account-input.ts'
import { readCsv } from './csv.ts'
import { findHeaderError, parseAccountFields } from './import.ts'

/** An account of an import file, or what is wrong with its line. */
export interface AccountLine {
  readonly line: number
  readonly input: AccountInput | string
}

export interface AccountLineReader {
  /** The accounts and bad lines that end with this line. */
  read(line: Line): readonly AccountLine[]
  /** The same at the end of the file. */
  end(): readonly AccountLine[]
}

interface OpenRecord {
  /** Where it begins. */
  readonly line: number
  readonly text: string
  /** Whether what is wrong with it has been said. */
  readonly isReported: boolean
}

/** Characters of a record of several lines: it is read again with each line. More is a quote that is not closed. */
const recordLengthMax = 8_192
const unclosedQuote = 'unclosed quote'
const tooLong = {
  records: [],
  fault: { message: `more than ${recordLengthMax} characters in several lines: is a quote not closed?` },
}

/**
 * Reads a file of accounts line by line, as `parseImportFile` reads it as a whole: at constant memory. After a quote
 * that is not closed nothing more is read.
 */
export function createAccountLineReader(): AccountLineReader {
  let kind: 'json' | 'csv' | undefined
  let header: readonly string[] | undefined
  /** A record whose quotes are still open. */
  let open: OpenRecord | undefined
  let isOver = false

  function read({ line, text: raw, problem }: Line): readonly AccountLine[] {
    const text = line === 1 && raw.startsWith('\ufeff') ? raw.slice(1) : raw
    if (text.trim() !== '') kind ??= text.trimStart().startsWith('{') ? 'json' : 'csv'
    if (problem !== undefined) return [{ line, input: problem }, ...readBad(line, text)]
    if (isOver) return []
    if (open) return readRecord({ ...open, text: `${open.text}\n${text}` })
    if (text.trim() === '') return []
    if (kind === 'json') return [{ line, input: readJsonLine(text) }]
    return readRecord({ line, text, isReported: false })
  }

  /** A line that is reported already. It may be within a record, or begin one. */
  function readBad(line: number, text: string): readonly AccountLine[] {
    if (open) return readRecord({ ...open, text: `${open.text}\n${text}` })
    // Without a readable header the other lines cannot be understood.
    if (kind !== 'json' && !header) isOver = true
    return isOver || kind === 'json' ? [] : readRecord({ line, text, isReported: true })
  }

  function readRecord(record: OpenRecord): readonly AccountLine[] {
    const { line, text, isReported } = record
    if (!text.includes('"')) return isReported ? [] : readCells(line, splitCells(text))
    const isTooLong = text.length > recordLengthMax && text.includes('\n')
    const { records, fault } = isTooLong ? tooLong : readCsv(text)
    const isUnclosed = fault?.message === unclosedQuote
    open = isUnclosed && text.length <= recordLengthMax ? record : undefined
    if (open || isReported) return []
    isOver = isUnclosed || isTooLong
    return fault ? [{ line, input: fault.message }] : readCells(line, records[0]?.cells ?? [])
  }

  function readCells(line: number, cells: readonly string[]): readonly AccountLine[] {
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
    return [{ line, input: parseAccountFields(values) }]
  }

  function end(): readonly AccountLine[] {
    return open && !open.isReported ? [{ line: open.line, input: unclosedQuote }] : []
  }

  return { read, end }
}

function splitCells(text: string): readonly string[] {
  return text.split(',').map((cell) => cell.trim())
}

function readJsonLine(text: string): AccountInput | string {
  const value = parseJson(text)
  if (value === undefined) return 'is not valid JSON'
  if (!isRecord(value)) return 'is not a JSON object'
  const duplicate = duplicateMember(text)
  return duplicate === undefined ? parseAccountFields(value) : `has the member ${duplicate} more than once`
}
