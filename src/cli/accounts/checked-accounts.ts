import { createdData, keysCsvHeading, keysCsvLines } from '#accounts/account-data.ts'
import type { AccountInput } from '#accounts/account-input.ts'
import type { Accounts, CreatedAccount } from '#accounts/accounts.ts'
import { createAccountLineReader, createLineSorter, findBadLines, importMax } from '#accounts/import-file.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import type { Invocation, Terminal } from '../command.ts'
import { batchSize, type ImportSource, recordsOf } from '../files.ts'
import { createProgress, isReaderGone, type Progress } from '../output.ts'
import {
  type Columns,
  createJsonFormat,
  createTableFormat,
  type ListFormat,
  printToStderr,
} from '../print.ts'
import { stoppable, until } from '../signals.ts'

/** What the check of a whole file has found. */
export interface CheckedAccounts {
  readonly count: number
  readonly badLines: number
  /** Length of the longest e-mail. */
  readonly emailLength: number
  /** All accounts, where they are few enough to be kept; undefined = they are not. */
  readonly inputs: readonly AccountInput[] | undefined
}

interface CheckOptions {
  readonly source: ImportSource
  readonly accounts: Pick<Accounts, 'findTaken' | 'planNames'>
  readonly progress: Progress
  /** Called in the order of the lines. */
  readonly onBadLine: (line: number, message: string) => void
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
    inputs = count > importMax.kept ? undefined : inputs?.concat(given)
    progress.report(count)
  }
  progress.end()
  return { count, badLines, emailLength, inputs }
}

function tooMany({ name }: ImportSource): OperatorError {
  const message = `${name} has more than ${importMax.command} accounts: they cannot be imported at once`
  return new OperatorError(message, { hint: 'Split it.' })
}

interface StreamOptions {
  readonly source: ImportSource
  readonly checked: CheckedAccounts
  readonly accounts: Pick<Accounts, 'importAll'>
  readonly invocation: Invocation
}

/**
 * Imports more accounts than fit into memory. Their keys are printed before all is saved, as they cannot be shown
 * afterwards: if they cannot be printed nothing is imported, and if the import fails it is said that they are void.
 */
export async function streamAccounts({
  source,
  checked,
  accounts,
  invocation,
}: StreamOptions): Promise<void> {
  const { out, err } = invocation.terminal
  const progress = createProgress({ verb: 'imported', total: checked.count, err })
  const format = formatOf(invocation, checked)
  let count = 0

  async function print(text: string): Promise<void> {
    await out.write(text)
    if (!out.failure) return
    const reason = isReaderGone(out) ? 'the reader closed it' : errorMessage(out.failure)
    throw new OperatorError(`cannot write the keys to standard output: ${reason}; nothing was imported`)
  }

  async function onMade(created: readonly CreatedAccount[]): Promise<void> {
    await print(format.batch(created))
    count += created.length
    progress.report(count)
  }

  await stoppable(async (stop) => {
    try {
      await accounts.importAll(untilStopped(stop, inputsOf(source), invocation.terminal), onMade)
    } catch (error) {
      printToStderr(invocation.terminal, `The import failed: the printed keys are void.`)
      throw error
    } finally {
      progress.end()
    }
  })
  await out.write(format.end())
}

/** Imports accounts that fit into memory, in parts. @returns them, once all are saved */
export function importInParts(
  inputs: readonly AccountInput[],
  accounts: StreamOptions['accounts'],
  terminal: Terminal,
): Promise<readonly CreatedAccount[]> {
  return stoppable(async (stop) => {
    const created: CreatedAccount[] = []
    await accounts.importAll(untilStopped(stop, partsOf(inputs), terminal), async (made) => {
      created.push(...made)
    })
    return created
  })
}

/** After a signal nothing more is imported, so that the store removes what was. */
function untilStopped<Batch>(
  stop: AbortSignal,
  batches: AsyncIterable<Batch>,
  terminal: Terminal,
): AsyncGenerator<Batch> {
  stop.addEventListener('abort', () => {
    printToStderr(terminal, 'Stopping: the accounts that were imported are removed again.')
  })
  return until(stop, batches)
}

async function* partsOf(inputs: readonly AccountInput[]): AsyncGenerator<readonly AccountInput[]> {
  for (let start = 0; start < inputs.length; start += batchSize) yield inputs.slice(start, start + batchSize)
}

/** The file again, as it was checked; it may have been changed meanwhile. */
async function* inputsOf(source: ImportSource): AsyncGenerator<readonly AccountInput[]> {
  for await (const batch of recordsOf(source, createAccountLineReader())) {
    yield batch.map(({ line, input }) => {
      if (typeof input !== 'string') return input
      throw new OperatorError(`${source.name}:${line}  ${input}; nothing was imported`, {
        hint: 'The file was changed after it had been checked.',
      })
    })
  }
}

/** Whether the output goes to a file or a program; a table is for people. */
export function isCsvWanted({ asJson, terminal }: Pick<Invocation, 'asJson' | 'terminal'>): boolean {
  return !asJson && terminal.out.isTTY !== true
}

export const keyColumns: Columns<CreatedAccount> = {
  ID: ({ account }) => account.id,
  'E-MAIL': ({ account }) => account.email,
  'SECRET KEY': ({ secretKey }) => secretKey,
  'API KEY': ({ apiKey }) => apiKey,
}

/** IDs and keys have the same length everywhere. */
function formatOf(invocation: Invocation, { emailLength }: CheckedAccounts): ListFormat<CreatedAccount> {
  if (invocation.asJson) return createJsonFormat((one) => createdData(one))
  if (isCsvWanted(invocation)) return csvFormat()
  return createTableFormat({ columns: keyColumns, widest: ['', 'x'.repeat(emailLength)], whenEmpty: '' })
}

function csvFormat(): ListFormat<CreatedAccount> {
  let heading = keysCsvHeading
  return {
    batch: (created) => {
      const text = heading + keysCsvLines(created)
      heading = ''
      return text
    },
    end: () => '',
  }
}
