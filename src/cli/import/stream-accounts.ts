import { createdData, keysCsvHeading, keysCsvLines } from '#accounts/account-data.ts'
import type { AccountInput } from '#accounts/account-input.ts'
import type { Accounts, CreatedAccount } from '#accounts/accounts.ts'
import { createAccountLineReader } from '#accounts/import-file.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import type { Invocation } from '../command.ts'
import { type Columns, printToStderr } from '../print.ts'
import { createJsonFormat, createTableFormat, type ListFormat } from '../terminal/list-format.ts'
import { isReaderGone } from '../terminal/output.ts'
import { createProgress } from '../terminal/progress.ts'
import { type CheckedAccounts, recordsOf } from './check-accounts.ts'
import type { ImportSource } from './source.ts'

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

  try {
    await accounts.importAll(inputsOf(source), onMade)
  } catch (error) {
    printToStderr(invocation.terminal, `The import failed: the printed keys are void.`)
    throw error
  } finally {
    progress.end()
  }
  await out.write(format.end())
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

/** Where the keys go to a file or a program; a table is for people. */
export function isCsvWanted({ asJson, terminal }: Pick<Invocation, 'asJson' | 'terminal'>): boolean {
  return !asJson && terminal.out.isTTY !== true
}

/** The columns of the keys of new accounts. */
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
