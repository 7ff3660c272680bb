import { readFileSync } from 'node:fs'
import { createdData } from '../accounts/account-data.ts'
import type { Accounts, CreatedAccount } from '../accounts/accounts.ts'
import { type BadLine, findBadLines, type ImportFile, importMax, readImportFile } from '../accounts/import.ts'
import { OperatorError } from '../errors/operator-error.ts'
import { errorMessage } from '../platform/system-error.ts'
import type { Command, Terminal } from './command.ts'
import { keepUnconfirmedKeys, withSealingOperator } from './operator.ts'
import { printData, printToStderr, table } from './print.ts'

export const importCommand: Command = {
  name: 'accounts import',
  operands: ['FILE'],
  summary: 'Imports accounts from CSV with a header row, or from JSON Lines; all or none.',
  examples: [
    'gatehouse accounts import people.csv',
    'gatehouse accounts import people.jsonl --json > keys.json',
  ],
  printsData: true,
  run: async (invocation) => {
    const [path = ''] = invocation.operands
    const { terminal } = invocation
    const file = readImportFile(readBytes(path))
    if (file.accounts.length > importMax.command) {
      throw new OperatorError(
        `${path} has ${file.accounts.length} accounts: at most ${importMax.command} can be imported at once`,
        {
          hint: 'Split the file.',
        },
      )
    }
    const work = withSealingOperator(invocation.config, async ({ accounts }) => {
      const progress = createProgress(file.accounts.length, terminal)
      const badLines = await findBadLines(file, accounts, progress)
      return badLines.length > 0 ? refuse(path, badLines, terminal) : createAll(file, accounts)
    })
    const { result: created, unconfirmed } = await keepUnconfirmedKeys(work)
    printData(
      invocation,
      created.map((one) => createdData(one)),
      () => keysTable(created),
    )
    if (unconfirmed) throw unconfirmed
    return 0
  },
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new OperatorError(`cannot read ${path}: ${errorMessage(cause)}`, { cause })
  }
}

function keysTable(created: readonly CreatedAccount[]): readonly string[] {
  const rows = created.map(({ account: { id, email }, secretKey, apiKey }) => [id, email, secretKey, apiKey])
  return table(['ID', 'E-MAIL', 'SECRET KEY', 'API KEY'], rows, 'The file has no accounts.')
}

function createProgress(total: number, { err }: Terminal): ((count: number) => void) | undefined {
  if (!err.isTTY) return undefined
  return (count) => err.write(`\rchecked ${count} of ${total}${count === total ? '\n' : ''}`)
}

function createAll(
  { accounts: entries }: ImportFile,
  accounts: Accounts,
): Promise<readonly CreatedAccount[]> {
  return accounts.createAll(entries.map(({ input }) => input))
}

function refuse(path: string, badLines: readonly BadLine[], terminal: Terminal): never {
  for (const { line, message } of badLines) printToStderr(terminal, `${path}:${line}  ${message}`)
  const count = badLines.length === 1 ? '1 invalid line' : `${badLines.length} invalid lines`
  throw new OperatorError(`${path} has ${count}; nothing was imported`, {
    hint: 'Fix them and import the file again.',
  })
}
