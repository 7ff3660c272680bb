import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import { duplicateMember, isRecord, parseJson } from '#platform/json.ts'
import { didYouMean } from '#platform/text.ts'
import { emailKey } from '#store/account.ts'
import { type AccountInput, defaultRole, findFieldErrors, findPlanError } from './account-input.ts'
import type { Accounts } from './accounts.ts'
import { readCsv } from './csv.ts'

/**
 * How many accounts one import may have, in the portal and on the command line; and up to how many the store writes in
 * one call, in which it serves no other request. In the portal SQLite blocks the gateway itself, for some 0.2 ms an
 * account.
 */
export const importMax = { portal: 1_000, command: 1_000_000, atOnce: 20_000 } as const

/** How many e-mails are looked up at the same time. */
const lookUpBatchSize = 200

/** A line of an import file that cannot be imported; lines count from 1. */
export interface BadLine {
  readonly line: number
  readonly message: string
}

export interface ImportFile {
  readonly accounts: readonly { readonly line: number; readonly input: AccountInput }[]
  readonly badLines: readonly BadLine[]
}

const textFields = ['email', 'firstName', 'lastName', 'role', 'plan'] as const
const fields: readonly string[] = [...textFields, 'isVerified']

interface Row {
  readonly line: number
  /** The fields as written, or why they could not be read. */
  readonly values: Readonly<Record<string, unknown>> | string
}

/** Reads a file of accounts. A line that is not UTF-8 would be stored with replacement characters: it is bad. */
export function readImportFile(bytes: Buffer): ImportFile {
  return parseImportFile(bytes.toString(), isUtf8(bytes) ? undefined : findInvalidUtf8Lines(bytes))
}

/** All bad lines of a file, in order: those that cannot be read, those whose e-mail is taken or whose plan is unknown. */
export async function findBadLines(
  { accounts: entries, badLines }: ImportFile,
  accounts: Pick<Accounts, 'findTaken' | 'planNames'>,
): Promise<readonly BadLine[]> {
  const refused: BadLine[] = []
  for (let start = 0; start < entries.length; start += lookUpBatchSize) {
    const batch = entries.slice(start, start + lookUpBatchSize)
    const found = new Set(await accounts.findTaken(batch.map(({ input }) => input.email)))
    for (const { line, input } of batch) {
      const planError = findPlanError(input.plan, accounts.planNames)
      const errors = [
        ...(found.has(input.email) ? [`email: ${input.email} already has an account`] : []),
        ...(planError === undefined ? [] : [`plan: ${planError}`]),
      ]
      if (errors.length > 0) refused.push({ line, message: errors.join('; ') })
    }
    // Yields to other requests: SQLite is synchronous.
    await setImmediate()
  }
  return [...badLines, ...refused].toSorted((a, b) => a.line - b.line)
}

/**
 * Reads accounts from JSON lines, or from CSV with a header; both name the fields as the admin API does. Every bad
 * line is reported, not only the first.
 * @param invalidUtf8Lines lines that are not UTF-8: all of them are bad
 */
export function parseImportFile(file: string, invalidUtf8Lines: ReadonlySet<number> = new Set()): ImportFile {
  const text = file.startsWith('\ufeff') ? file.slice(1) : file
  const rows = withInvalidUtf8Lines(
    /^\s*\{/.test(text) ? readJsonLines(text) : readTable(text, invalidUtf8Lines),
    invalidUtf8Lines,
  )
  const seen = new Map<string, number>()
  const accounts: { line: number; input: AccountInput }[] = []
  const badLines: BadLine[] = []
  for (const { line, values } of rows) {
    const input = typeof values === 'string' ? values : parseAccountFields(values)
    const duplicateLine = typeof input === 'string' ? undefined : seen.get(emailKey(input.email))
    if (typeof input === 'string') badLines.push({ line, message: input })
    else if (duplicateLine !== undefined)
      badLines.push({ line, message: `email: ${input.email} is already on line ${duplicateLine}` })
    else {
      seen.set(emailKey(input.email), line)
      accounts.push({ line, input })
    }
  }
  return { accounts, badLines }
}

/** Replaces what was read from a mangled line, which may also be inside a record, or have been skipped. */
function withInvalidUtf8Lines(rows: readonly Row[], invalidUtf8Lines: ReadonlySet<number>): readonly Row[] {
  if (invalidUtf8Lines.size === 0) return rows
  const others = rows.filter(({ line }) => !invalidUtf8Lines.has(line))
  const bad = [...invalidUtf8Lines].map((line): Row => ({ line, values: 'is not valid UTF-8' }))
  return [...others, ...bad].toSorted((a, b) => a.line - b.line)
}

/** Lines that are not UTF-8, counted from 1. */
function findInvalidUtf8Lines(bytes: Buffer): ReadonlySet<number> {
  // Read as latin1, each line keeps its bytes, whatever its encoding, as long as that includes ASCII.
  const lines = bytes.toString('latin1').split(/\r\n|\n|\r/)
  return new Set(lines.flatMap((line, index) => (isUtf8(Buffer.from(line, 'latin1')) ? [] : [index + 1])))
}

/** Whether more than `linesMax` lines are not blank. Reads no further than needed. */
export function hasMoreLines(text: string, linesMax: number): boolean {
  let lines = 0
  for (const _line of text.matchAll(/\S[^\r\n]*/g)) {
    lines++
    if (lines > linesMax) return true
  }
  return false
}

function readJsonLines(text: string): Row[] {
  return text.split(/\r?\n/).flatMap((content, index) => {
    if (content.trim() === '') return []
    return [{ line: index + 1, values: readJson(content) }]
  })
}

function readJson(content: string): Row['values'] {
  const value = parseJson(content)
  if (value === undefined) return 'is not valid JSON'
  if (!isRecord(value)) return 'is not a JSON object'
  const duplicate = duplicateMember(content)
  return duplicate === undefined ? value : `has the member ${duplicate} more than once`
}

function readTable(text: string, invalidUtf8Lines: ReadonlySet<number>): Row[] {
  const { records, fault } = readCsv(text)
  const [header, ...others] = records
  // Without a readable header the other lines cannot be understood.
  if (header && invalidUtf8Lines.has(header.line)) return []
  const headerError = header && findHeaderError(header.cells)
  if (header && headerError !== undefined) return [{ line: header.line, values: headerError }]
  const names = header?.cells ?? []
  const rows = others.map(({ line, cells }): Row => {
    if (cells.length !== names.length) {
      return { line, values: `has ${cells.length} columns, but the header has ${names.length}` }
    }
    return { line, values: Object.fromEntries(names.map((name, column) => [name, cells[column]])) }
  })
  return fault ? [...rows, { line: fault.line, values: fault.message }] : rows
}

/** @returns undefined where the header is right */
export function findHeaderError(names: readonly string[]): string | undefined {
  if (!names.includes('email'))
    return `the header must name email, and may name ${fields.slice(1).join(', ')}`
  if (names.includes('')) return 'a column of the header has no name'
  const duplicate = names.find((name, column) => names.indexOf(name) !== column)
  return duplicate === undefined ? undefined : `the header names ${duplicate} twice`
}

/** The account that a row describes, or all errors of the row. */
export function parseAccountFields(values: Readonly<Record<string, unknown>>): AccountInput | string {
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
  const input = { ...others, role: others.role || defaultRole, ...(plan !== '' && { plan }) }
  for (const { field, message } of findFieldErrors(input)) errors.push(`${field}: ${message}`)
  return errors.length > 0 || isVerified === undefined ? errors.join('; ') : { ...input, isVerified }
}

function readBoolean(value: unknown): boolean | undefined {
  if (value === undefined || value === '' || value === false || value === 'false') return false
  return value === true || value === 'true' ? true : undefined
}
