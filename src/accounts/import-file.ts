import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { readLines } from '#platform/files.ts'
import { emailKey } from '#store/accounts.ts'
import {
  type AccountInput,
  accountDefaults,
  findFieldErrors,
  findPlanError,
  textFields,
} from './account-input.ts'
import type { Accounts } from './accounts.ts'
import { createRecordReader, type RecordLine, type RecordReader, textsIn } from './import-records.ts'

/**
 * Maximum number of accounts in one import, in the portal and on the command line. The former is also how many the
 * store writes in one step, during which it serves no other request: in the portal, SQLite blocks the gateway itself,
 * for some 0.2 ms for each account. Of `kept` accounts the command keeps the keys until all are saved.
 */
export const importMax = { portal: 1_000, command: 1_000_000, kept: 20_000 } as const

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

/** Reads a whole file of accounts. Every bad line is reported, not only the first. */
export async function readImportFile(bytes: Buffer): Promise<ImportFile> {
  const reader = createAccountLineReader()
  const found: AccountLine[] = []
  for await (const lines of readLines(Readable.from([bytes])))
    for (const line of lines) found.push(...reader.read(line))
  return createLineSorter()([...found, ...reader.end()])
}

/**
 * Separates the accounts of a file from its bad lines, which include those that repeat an e-mail. E-mails are compared
 * by 64 bits of their SHA-256: the probability that two of a million collide is 1 in 37 million, and the file is then
 * refused, with both lines named.
 * @returns a function for each next part of the file
 */
export function createLineSorter(): (part: readonly AccountLine[]) => ImportFile {
  const lines = new Map<bigint, number>()
  return (part) => {
    const accounts: { line: number; input: AccountInput }[] = []
    const badLines: BadLine[] = []
    for (const { line, input } of part.toSorted(byLine)) {
      if (typeof input === 'string') {
        badLines.push({ line, message: input })
        continue
      }
      const key = hash('sha256', emailKey(input.email), 'buffer').readBigUInt64LE()
      const known = lines.get(key)
      if (known !== undefined) {
        badLines.push({ line, message: `email: ${input.email} is already on line ${known}` })
        continue
      }
      lines.set(key, line)
      accounts.push({ line, input })
    }
    return { accounts, badLines }
  }
}

/** All bad lines of a file, in order: unreadable, with an e-mail that is taken, or with an unknown plan. */
export async function findBadLines(
  { accounts: entries, badLines }: ImportFile,
  accounts: Pick<Accounts, 'findTaken' | 'planNames'>,
): Promise<readonly BadLine[]> {
  const refused: BadLine[] = []
  for (let start = 0; start < entries.length; start += lookUpBatchSize) {
    const batch = entries.slice(start, start + lookUpBatchSize)
    const found = new Set(await accounts.findTaken(batch.map(({ input }) => input.email)))
    for (const { line, input } of batch) {
      const message = findImportError(input, found, accounts.planNames)
      if (message !== undefined) refused.push({ line, message })
    }
    // Yields to other requests: SQLite is synchronous.
    await setImmediate()
  }
  return [...badLines, ...refused].toSorted(byLine)
}

function byLine(a: { readonly line: number }, b: { readonly line: number }): number {
  return a.line - b.line
}

/** Why an account of a file cannot be created: its e-mail is among those that are taken, or its plan is unknown. */
function findImportError(
  { email, plan }: AccountInput,
  taken: ReadonlySet<string>,
  planNames: readonly string[],
): string | undefined {
  const planError = findPlanError(plan, planNames)
  const errors = [
    ...(taken.has(email) ? [`email: ${email} already has an account`] : []),
    ...(planError === undefined ? [] : [`plan: ${planError}`]),
  ]
  return errors.length === 0 ? undefined : errors.join('; ')
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

/** An account of an import file, or what is wrong with its line. */
export type AccountLine = RecordLine<AccountInput>

const accountFields: readonly string[] = [...textFields, 'isVerified']

/** Reads accounts, whose fields are named as in the admin API. */
export function createAccountLineReader(): RecordReader<AccountInput> {
  return createRecordReader({ parse: parseAccountFields, findHeaderError: findAccountHeaderError })
}

/** @returns undefined where the header is right */
function findAccountHeaderError(names: readonly string[]): string | undefined {
  if (!names.includes('email'))
    return `the header must name email, and may name ${accountFields.slice(1).join(', ')}`
  if (names.includes('')) return 'a column of the header has no name'
  const duplicate = names.find((name, column) => names.indexOf(name) !== column)
  return duplicate === undefined ? undefined : `the header names ${duplicate} twice`
}

/** The account that a row describes, or all errors of the row. */
function parseAccountFields(values: Readonly<Record<string, unknown>>): AccountInput | string {
  const errors: string[] = []
  const { plan, ...others } = textsIn(values, { names: textFields, fields: accountFields, errors })
  const isVerified = readBoolean(values.isVerified)
  if (isVerified === undefined) errors.push('isVerified: must be true or false')
  const input = { ...others, role: others.role || accountDefaults.role, ...(plan !== '' && { plan }) }
  for (const { field, message } of findFieldErrors(input)) errors.push(`${field}: ${message}`)
  return errors.length > 0 || isVerified === undefined ? errors.join('; ') : { ...input, isVerified }
}

function readBoolean(value: unknown): boolean | undefined {
  if (value === undefined || value === '' || value === false || value === 'false') return false
  return value === true || value === 'true' ? true : undefined
}
