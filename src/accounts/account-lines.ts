import type { Line } from '#platform/files.ts'
import { duplicateMember, isRecord, parseJson } from '#platform/json.ts'
import { didYouMean } from '#platform/text.ts'
import { type AccountInput, accountDefaults, findFieldErrors } from './account-input.ts'
import { readCsv } from './csv.ts'

/** An account of an import file, or what is wrong with its line. */
export interface AccountLine {
  readonly line: number
  readonly input: AccountInput | string
}

interface AccountLineReader {
  /** The accounts and bad lines that end with this line. */
  read(line: Line): readonly AccountLine[]
  /** The accounts and bad lines that only the end of the file completes. */
  end(): readonly AccountLine[]
}

const textFields = ['email', 'firstName', 'lastName', 'role', 'plan'] as const
const fields: readonly string[] = [...textFields, 'isVerified']

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
 * Reads accounts line by line, at constant memory: JSON lines, or CSV with a header; both name the fields as the admin
 * API does. After a quote that is not closed nothing more is read.
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
    if (open) return readMore(open, text)
    if (text.trim() === '') return []
    if (kind === 'json') return [{ line, input: readJsonLine(text) }]
    return readRecord({ line, text, isReported: false })
  }

  /** A line that is reported already. It may be within a record, or begin one. */
  function readBad(line: number, text: string): readonly AccountLine[] {
    if (open) return readMore(open, text)
    // Without a readable header the other lines cannot be understood.
    if (kind !== 'json' && !header) isOver = true
    return isOver || kind === 'json' ? [] : readRecord({ line, text, isReported: true })
  }

  /** The next line of a record whose quotes are open; without a quote it cannot close them. */
  function readMore(before: OpenRecord, text: string): readonly AccountLine[] {
    const record = { ...before, text: `${before.text}\n${text}` }
    if (text.includes('"') || record.text.length > recordLengthMax) return readRecord(record)
    open = record
    return []
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

/** @returns undefined where the header is right */
function findHeaderError(names: readonly string[]): string | undefined {
  if (!names.includes('email'))
    return `the header must name email, and may name ${fields.slice(1).join(', ')}`
  if (names.includes('')) return 'a column of the header has no name'
  const duplicate = names.find((name, column) => names.indexOf(name) !== column)
  return duplicate === undefined ? undefined : `the header names ${duplicate} twice`
}

/** The account that a row describes, or all errors of the row. */
function parseAccountFields(values: Readonly<Record<string, unknown>>): AccountInput | string {
  const unknown = Object.keys(values).filter((name) => !fields.includes(name))
  const errors = unknown.map((name) => `${name}: unknown field${didYouMean(name, fields)}`)
  const texts = { email: '', firstName: '', lastName: '', role: '', plan: '' }
  for (const field of textFields) {
    const value = values[field] ?? ''
    if (typeof value === 'string') texts[field] = value
    else errors.push(`${field}: must be text`)
  }
  const isVerified = readBoolean(values.isVerified)
  if (isVerified === undefined) errors.push('isVerified: must be true or false')
  const { plan, ...others } = texts
  const input = { ...others, role: others.role || accountDefaults.role, ...(plan !== '' && { plan }) }
  for (const { field, message } of findFieldErrors(input)) errors.push(`${field}: ${message}`)
  return errors.length > 0 || isVerified === undefined ? errors.join('; ') : { ...input, isVerified }
}

function readBoolean(value: unknown): boolean | undefined {
  if (value === undefined || value === '' || value === false || value === 'false') return false
  return value === true || value === 'true' ? true : undefined
}
