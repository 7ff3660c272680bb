import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import type { Line } from '#platform/files.ts'
import { type AccountInput, findPlanError } from './account-input.ts'
import { type AccountLine, createAccountLineReader } from './account-lines.ts'
import type { Accounts } from './accounts.ts'
import { createEmailIndex } from './email-index.ts'

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

/** Reads a whole file of accounts. Every bad line is reported, not only the first. */
export function readImportFile(bytes: Buffer): ImportFile {
  const reader = createAccountLineReader()
  const emails = createEmailIndex()
  const accounts: { line: number; input: AccountInput }[] = []
  const badLines: BadLine[] = []
  const found: AccountLine[] = []
  for (const line of linesOf(bytes)) found.push(...reader.read(line))
  found.push(...reader.end())
  for (const { line, input } of found.toSorted((a, b) => a.line - b.line)) {
    const known = typeof input === 'string' ? undefined : emails.add(input.email, line)
    if (typeof input === 'string') badLines.push({ line, message: input })
    else if (known !== undefined) badLines.push({ line, message: repeatedEmail(input, known) })
    else accounts.push({ line, input })
  }
  return { accounts, badLines }
}

/** A line that is not UTF-8 would be stored with replacement characters. */
function* linesOf(bytes: Buffer): Generator<Line> {
  const isValid = isUtf8(bytes)
  // Read as latin1, each line keeps its bytes, whatever its encoding, as long as that includes ASCII.
  const lines = bytes.toString(isValid ? 'utf8' : 'latin1').split(/\r\n|\n|\r/)
  for (const [index, text] of lines.entries()) {
    const own = isValid ? undefined : Buffer.from(text, 'latin1')
    const problem = own && !isUtf8(own) ? 'is not valid UTF-8' : undefined
    yield { line: index + 1, text: own?.toString() ?? text, problem }
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
  return [...badLines, ...refused].toSorted((a, b) => a.line - b.line)
}

/** Why an account of a file cannot be created: its e-mail is among those that are taken, or its plan is unknown. */
export function findImportError(
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

/** @param line the one that has the e-mail already */
export function repeatedEmail({ email }: AccountInput, line: number): string {
  return `email: ${email} is already on line ${line}`
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
