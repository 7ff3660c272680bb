import { readFileSync } from 'node:fs'
import type { Accounts, CreatedAccount } from '../accounts/accounts.ts'
import { type BadLine, type ImportFile, parseImportFile } from '../accounts/import.ts'
import { OperatorError, reasonOf } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { createdData } from './account-view.ts'
import type { Command } from './command.ts'
import { withOperator } from './operator.ts'
import { printAside, printData, table } from './print.ts'

/** How many e-mails are looked up at the same time. */
const lookUpsAtOnce = 200
/** Redis takes an import as one step, and serves nobody else meanwhile. */
const accountsMax = 20_000

export const importCommand: Command = {
  name: 'accounts import',
  operands: ['FILE'],
  summary: 'Makes accounts from CSV with a heading or JSON lines: all of them, or none.',
  printsData: true,
  run: async (invocation) => {
    const [path = ''] = invocation.operands
    const file = parseImportFile(readText(path))
    if (file.accounts.length > accountsMax) {
      throw new OperatorError(
        `${path} has ${file.accounts.length} accounts: ${accountsMax} is the most at once`,
        {
          hint: 'Split the file.',
        },
      )
    }
    const created = await withOperator(invocation.config, async ({ accounts, store }) => {
      const badLines = [...file.badLines, ...(await findTaken(file, store))].toSorted(
        (a, b) => a.line - b.line,
      )
      return badLines.length > 0 ? refuse(path, badLines) : createAll(file, accounts)
    })
    const rows = created.map(({ account, secretKey, apiKey }) => [
      account.id,
      account.email,
      secretKey,
      apiKey,
    ])
    printData(
      invocation,
      created.map(createdData),
      table(['ID', 'E-MAIL', 'SECRET KEY', 'API KEY'], rows, 'The file has no accounts.'),
    )
    return 0
  },
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new OperatorError(`cannot read ${path}: ${reasonOf(cause)}`, { cause })
  }
}

async function findTaken({ accounts }: ImportFile, store: Store): Promise<BadLine[]> {
  const taken: BadLine[] = []
  for (let start = 0; start < accounts.length; start += lookUpsAtOnce) {
    const found = await Promise.all(
      accounts.slice(start, start + lookUpsAtOnce).map(async ({ line, input }) => {
        const account = await store.findAccountByEmail(input.email)
        return account ? [{ line, message: `email: ${input.email} has an account already` }] : []
      }),
    )
    taken.push(...found.flat())
    if (process.stderr.isTTY)
      process.stderr.write(
        `\rchecked ${Math.min(start + lookUpsAtOnce, accounts.length)} of ${accounts.length}`,
      )
  }
  if (process.stderr.isTTY) process.stderr.write('\n')
  return taken
}

function createAll(
  { accounts: entries }: ImportFile,
  accounts: Accounts,
): Promise<readonly CreatedAccount[]> {
  return accounts.createAll(entries.map(({ input }) => input))
}

function refuse(path: string, badLines: readonly BadLine[]): never {
  for (const { line, message } of badLines) printAside(`${path}:${line}  ${message}`)
  const count = badLines.length === 1 ? 'a bad line' : `${badLines.length} bad lines`
  throw new OperatorError(`${path} has ${count}; nothing was imported`, {
    hint: 'Mend them and import the file again.',
  })
}
