import { createdData } from '../../accounts/account-data.ts'
import type { CreatedAccount } from '../../accounts/accounts.ts'
import { OperatorError } from '../../errors/operator-error.ts'
import type { Command, Invocation } from '../command.ts'
import { keepUnconfirmedKeys, type Operator, withSealingOperator } from '../operator.ts'
import { printData, printToStderr, table } from '../print.ts'
import { createProgress } from '../terminal/progress.ts'
import { type CheckedAccounts, checkAccounts } from './check-accounts.ts'
import { type ImportSource, openImportSource } from './source.ts'
import { streamAccounts } from './stream-accounts.ts'

export const importCommand: Command = {
  name: 'accounts import',
  operands: ['FILE'],
  summary: 'Imports accounts from CSV or JSON Lines; all or none. - is standard input.',
  examples: [
    'gatehouse accounts import people.csv --check',
    'gunzip -c people.jsonl.gz | gatehouse accounts import - --json > keys.json',
  ],
  options: {
    check: { type: 'boolean', help: 'Only checks every line, also against the store; imports nothing.' },
  },
  printsData: true,
  run: async (invocation) => {
    const [path = ''] = invocation.operands
    const source = await openImportSource(path, invocation.terminal)
    try {
      await withSealingOperator(invocation.config, (operator) => importFrom(source, operator, invocation))
    } finally {
      await source.close()
    }
    return 0
  },
}

async function importFrom(source: ImportSource, operator: Operator, invocation: Invocation): Promise<void> {
  const { terminal } = invocation
  const checked = await checkAccounts({
    source,
    accounts: operator.accounts,
    progress: createProgress({ verb: 'checked', err: terminal.err }),
    onBadLine: (line, message) => printToStderr(terminal, `${source.name}:${line}  ${message}`),
  })
  if (checked.badLines > 0) refuse(source, checked)
  if (invocation.flag('check')) printChecked(checked, source, invocation)
  else if (checked.inputs) await importAtOnce(checked.inputs, operator, invocation)
  else await streamAccounts({ source, checked, accounts: operator.accounts, invocation })
}

function refuse({ name }: ImportSource, { badLines }: CheckedAccounts): never {
  const count = badLines === 1 ? '1 invalid line' : `${badLines} invalid lines`
  throw new OperatorError(`${name} has ${count}; nothing was imported`, {
    hint: 'Fix them and import the file again.',
  })
}

function printChecked({ count }: CheckedAccounts, { name }: ImportSource, invocation: Invocation): void {
  const accounts = count === 1 ? '1 account' : `${count} accounts`
  printData(invocation, { accounts: count }, [`${name} is valid: ${accounts}; nothing was imported.`])
}

/** In one step of the store; the keys are printed once they are saved, or while that is not confirmed. */
async function importAtOnce(
  inputs: NonNullable<CheckedAccounts['inputs']>,
  { accounts }: Operator,
  invocation: Invocation,
): Promise<void> {
  const { result: created, unconfirmed } = await keepUnconfirmedKeys(accounts.createAll(inputs))
  printData(
    invocation,
    created.map((one) => createdData(one)),
    () => keysTable(created),
  )
  if (unconfirmed) throw unconfirmed
}

function keysTable(created: readonly CreatedAccount[]): readonly string[] {
  const rows = created.map(({ account: { id, email }, secretKey, apiKey }) => [id, email, secretKey, apiKey])
  return table(['ID', 'E-MAIL', 'SECRET KEY', 'API KEY'], rows, 'The file has no accounts.')
}
