import type { AccountInput } from '#accounts/account-input.ts'
import type { Accounts } from '#accounts/accounts.ts'
import { createAccountLineReader, createLineSorter, findBadLines, importMax } from '#accounts/import-file.ts'
import type { RecordLine, RecordReader } from '#accounts/import-records.ts'
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

interface CheckOptions {
  readonly source: ImportSource
  readonly accounts: Pick<Accounts, 'findTaken' | 'planNames'>
  readonly progress: Progress
  /** Called in the order of the lines. */
  readonly onBadLine: (line: number, message: string) => void
}

/** The records and bad lines of a source, batch by batch; what ends one record may be reported after later lines. */
export async function* recordsOf<Input>(
  source: ImportSource,
  reader: RecordReader<Input>,
  batchMax = batchSize,
): AsyncGenerator<readonly RecordLine<Input>[]> {
  let batch: RecordLine<Input>[] = []
  for await (const lines of source.lines()) {
    for (const line of lines) batch.push(...reader.read(line))
    while (batch.length >= batchMax) {
      yield batch.slice(0, batchMax)
      batch = batch.slice(batchMax)
    }
  }
  yield [...batch, ...reader.end()]
}

/** @throws OperatorError for more accounts than one import may have */
export async function checkAccounts(options: CheckOptions): Promise<CheckedAccounts> {
  const { source, accounts, progress, onBadLine } = options
  const sortLines = createLineSorter()
  let count = 0
  let badLines = 0
  let emailLength = 0
  let inputs: AccountInput[] | undefined = []
  for await (const batch of recordsOf(source, createAccountLineReader())) {
    const file = sortLines(batch)
    for (const { line, message } of await findBadLines(file, accounts)) {
      badLines++
      onBadLine(line, message)
    }
    const given = file.accounts.map(({ input }) => input)
    count += given.length
    if (count > importMax.command) throw tooMany(source)
    emailLength = Math.max(emailLength, ...given.map(({ email }) => email.length))
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
