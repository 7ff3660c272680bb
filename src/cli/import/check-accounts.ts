import type { AccountInput } from '#accounts/account-input.ts'
import { type AccountLine, createAccountLineReader } from '#accounts/account-lines.ts'
import type { Accounts } from '#accounts/accounts.ts'
import { createEmailIndex } from '#accounts/email-index.ts'
import { findImportError, importMax, repeatedEmail } from '#accounts/import.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { Progress } from '../terminal/progress.ts'
import type { ImportSource } from './source.ts'

/** How many lines are checked at a time. */
const batchSize = 200

/** What a file has that was checked as a whole. */
export interface CheckedAccounts {
  readonly count: number
  readonly badLines: number
  /** Length of the longest e-mail. */
  readonly emailLength: number
  /** All accounts, where they are few enough for one call of the store; undefined = they are not. */
  readonly inputs: readonly AccountInput[] | undefined
}

export interface CheckOptions {
  readonly source: ImportSource
  readonly accounts: Pick<Accounts, 'findTaken' | 'planNames'>
  readonly progress: Progress
  /** Called in the order of the lines. */
  readonly onBadLine: (line: number, message: string) => void
}

/** The accounts and bad lines of a source, batch by batch; what ends one record may be reported after later lines. */
export async function* accountLinesOf(source: ImportSource): AsyncGenerator<readonly AccountLine[]> {
  const reader = createAccountLineReader()
  let batch: AccountLine[] = []
  for await (const lines of source.lines()) {
    for (const line of lines) batch.push(...reader.read(line))
    while (batch.length >= batchSize) {
      yield batch.slice(0, batchSize)
      batch = batch.slice(batchSize)
    }
  }
  yield [...batch, ...reader.end()]
}

/** @throws OperatorError for more accounts than one import may have */
export async function checkAccounts(options: CheckOptions): Promise<CheckedAccounts> {
  const { source, accounts, progress, onBadLine } = options
  const emails = createEmailIndex()
  let [count, badLines, emailLength] = [0, 0, 0]
  let inputs: AccountInput[] | undefined = []

  function findBad({ line, input }: AccountLine, taken: ReadonlySet<string>): string | undefined {
    if (typeof input === 'string') return input
    const duplicate = emails.add(input.email, line)
    return duplicate === undefined
      ? findImportError(input, taken, accounts.planNames)
      : repeatedEmail(input, duplicate)
  }

  for await (const batch of accountLinesOf(source)) {
    const given = batch.flatMap(({ input }) => (typeof input === 'string' ? [] : [input]))
    const taken = new Set(await accounts.findTaken(given.map(({ email }) => email)))
    for (const each of batch.toSorted((a, b) => a.line - b.line)) {
      const message = findBad(each, taken)
      if (message === undefined) continue
      badLines++
      onBadLine(each.line, message)
    }
    count += given.length
    if (count > importMax.command) throw tooMany(source)
    for (const { email } of given) emailLength = Math.max(emailLength, email.length)
    inputs = count > importMax.atOnce ? undefined : inputs?.concat(given)
    progress.report(count)
  }
  progress.end()
  return { count, badLines, emailLength, inputs }
}

function tooMany({ name }: ImportSource): OperatorError {
  const message = `${name} has more than ${importMax.command} accounts: they cannot be imported at once`
  return new OperatorError(message, { hint: 'Split it.' })
}
