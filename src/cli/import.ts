import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { createdData } from '../accounts/account-data.ts'
import type { Accounts, CreatedAccount } from '../accounts/accounts.ts'
import { type BadLine, type ImportFile, importMax, parseImportFile } from '../accounts/import.ts'
import { OperatorError, reasonOf } from '../errors.ts'
import type { Store } from '../store/store.ts'
import type { Command } from './command.ts'
import { withSealingOperator } from './operator.ts'
import { printAside, printData, table } from './print.ts'
import { rescueKeys } from './rescue.ts'
import type { Terminal } from './terminal.ts'

/** How many e-mails are looked up at the same time. */
const lookUpsAtOnce = 200

export const importCommand: Command = {
  name: 'accounts import',
  operands: ['FILE'],
  summary: 'Makes accounts from CSV with a heading or JSON lines: all of them, or none.',
  printsData: true,
  run: async (invocation) => {
    const [path = ''] = invocation.operands
    const { terminal } = invocation
    const file = readImportFile(path)
    if (file.accounts.length > importMax.command) {
      throw new OperatorError(
        `${path} has ${file.accounts.length} accounts: ${importMax.command} is the most at once`,
        {
          hint: 'Split the file.',
        },
      )
    }
    const work = withSealingOperator(invocation.config, async ({ accounts, store }) => {
      const badLines = [...file.badLines, ...(await findTaken(file, store, terminal))].toSorted(
        (a, b) => a.line - b.line,
      )
      return badLines.length > 0 ? refuse(path, badLines, terminal) : createAll(file, accounts)
    })
    const { made: created, doubt } = await rescueKeys(work)
    const rows = created.map(({ account, secretKey, apiKey }) => [
      account.id,
      account.email,
      secretKey,
      apiKey,
    ])
    printData(
      invocation,
      created.map((one) => createdData(one)),
      table(['ID', 'E-MAIL', 'SECRET KEY', 'API KEY'], rows, 'The file has no accounts.'),
    )
    if (doubt) throw doubt
    return 0
  },
}

/** What is no UTF-8 would be stored mangled: the lines that hold it are bad, and no other is looked at. */
function readImportFile(path: string): ImportFile {
  const bytes = readBytes(path)
  if (isUtf8(bytes)) return parseImportFile(bytes.toString())
  // In any encoding that has ASCII in it, each line is the same bytes in latin1.
  const badLines = bytes
    .toString('latin1')
    .split(/\r?\n/)
    .flatMap((content, index) =>
      isUtf8(Buffer.from(content, 'latin1')) ? [] : [{ line: index + 1, message: 'is not in UTF-8' }],
    )
  return { accounts: [], badLines }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw new OperatorError(`cannot read ${path}: ${reasonOf(cause)}`, { cause })
  }
}

async function findTaken({ accounts }: ImportFile, store: Store, { err }: Terminal): Promise<BadLine[]> {
  const taken: BadLine[] = []
  for (let start = 0; start < accounts.length; start += lookUpsAtOnce) {
    const found = await Promise.all(
      accounts.slice(start, start + lookUpsAtOnce).map(async ({ line, input }) => {
        const account = await store.findAccountByEmail(input.email)
        return account ? [{ line, message: `email: ${input.email} has an account already` }] : []
      }),
    )
    taken.push(...found.flat())
    if (err.isTTY)
      err.write(`\rchecked ${Math.min(start + lookUpsAtOnce, accounts.length)} of ${accounts.length}`)
  }
  if (err.isTTY) err.write('\n')
  return taken
}

function createAll(
  { accounts: entries }: ImportFile,
  accounts: Accounts,
): Promise<readonly CreatedAccount[]> {
  return accounts.createAll(entries.map(({ input }) => input))
}

function refuse(path: string, badLines: readonly BadLine[], terminal: Terminal): never {
  for (const { line, message } of badLines) printAside(terminal, `${path}:${line}  ${message}`)
  const count = badLines.length === 1 ? 'a bad line' : `${badLines.length} bad lines`
  throw new OperatorError(`${path} has ${count}; nothing was imported`, {
    hint: 'Mend them and import the file again.',
  })
}
