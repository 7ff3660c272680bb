import { createdData, keysCsvHeading, keysCsvLines } from '#accounts/account-data.ts'
import type { CreatedAccount } from '#accounts/accounts.ts'
import { importMax } from '#accounts/import-file.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { countOf } from '#platform/text.ts'
import type { Command, Invocation } from '../command.ts'
import { type ImportSource, invalidLines, withImportSource } from '../files.ts'
import { keepUnconfirmedKeys, type Operator, withSealingOperator } from '../operator.ts'
import { createProgress } from '../output.ts'
import { assertKeysPrinted, printData, printToStderr, table, unprintedKeysHint } from '../print.ts'
import { assertCanMail } from './account-options.ts'
import {
  type CheckedAccounts,
  checkAccounts,
  importInParts,
  isCsvWanted,
  keyColumns,
  streamAccounts,
} from './checked-accounts.ts'

export const importCommand: Command = {
  name: 'accounts import',
  operands: ['FILE'],
  summary: 'Imports accounts from CSV or JSON Lines; all or none. - is standard input.',
  examples: [
    'gatehouse accounts import people.csv --check',
    'gatehouse accounts import people.csv > keys.csv',
    'gunzip -c people.jsonl.gz | gatehouse accounts import - --json > keys.json',
  ],
  options: {
    check: { help: 'Only checks every line, also against the store; imports nothing.' },
    'mail-links': {
      help: 'Mails a set-up link to the owner of each account, once all are imported; up to 20,000.',
    },
  },
  run: async (invocation, path) => {
    await withImportSource(path, invocation.terminal, (source) =>
      withSealingOperator(invocation.config, (operator) => importFrom(source, operator, invocation)),
    )
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
  if (checked.badLines > 0) throw invalidLines(source, checked.badLines)
  if (invocation.flag('mail-links')) assertCanMailAll(operator, checked)
  if (invocation.flag('check')) {
    const { count } = checked
    printData(invocation, { accounts: count }, [
      `${source.name} is valid: ${countOf(count, 'account')}; nothing was imported.`,
    ])
  } else if (checked.inputs) await importKept(checked.inputs, operator, invocation)
  else {
    await streamAccounts({ source, checked, accounts: operator.accounts, invocation })
    if (!invocation.asJson) sayImported(checked.count, invocation)
  }
}

function sayImported(count: number, { terminal }: Invocation): void {
  const text = `${countOf(count, 'account')} imported. Save the keys: they are not shown again.`
  printToStderr(terminal, count === 0 ? 'The file has no accounts.' : text)
}

/** The keys are printed once all accounts are saved, or if that could not be confirmed. */
async function importKept(
  inputs: NonNullable<CheckedAccounts['inputs']>,
  operator: Operator,
  invocation: Invocation,
): Promise<void> {
  const { accounts } = operator
  const { terminal, asJson } = invocation
  const isOneStep = inputs.length <= importMax.portal
  const { result: created, unconfirmed } = await keepUnconfirmedKeys(
    isOneStep ? accounts.createAll(inputs) : importInParts(inputs, accounts, terminal),
  )
  if (isCsvWanted(invocation)) terminal.out.write(keysCsvHeading + keysCsvLines(created))
  else
    printData(
      invocation,
      created.map((one) => createdData(one)),
      () => table(created, { columns: keyColumns, whenEmpty: 'The file has no accounts.' }),
    )
  if (unconfirmed) throw unconfirmed
  await terminal.out.flushed?.()
  // An empty table already says that the file has no accounts.
  const isSaid = isCsvWanted(invocation) || (!asJson && created.length > 0)
  if (isSaid && !terminal.out.failure) sayImported(created.length, invocation)
  try {
    if (invocation.flag('mail-links')) await mailLinks(created, operator, invocation)
  } finally {
    if (created.length > 0)
      await assertKeysPrinted(terminal, 'the accounts exist, but their keys', unprintedKeysHint)
  }
}

/** @throws OperatorError where links cannot be mailed, or there are too many: nothing is imported */
function assertCanMailAll(operator: Operator, { inputs }: CheckedAccounts): void {
  assertCanMail(operator)
  if (inputs) return
  throw new OperatorError(`links can be mailed to ${importMax.kept} accounts at most; nothing was imported`, {
    hint: 'Import the file in parts.',
  })
}

/** Mails a few at a time. All are tried, and each failure is reported. */
async function mailLinks(
  created: readonly CreatedAccount[],
  { setupLinks }: Operator,
  { terminal }: Invocation,
): Promise<void> {
  let failed = 0
  for (const batch of chunksOf(created, mailsAtOnce)) {
    const sending = batch.map(({ account }) =>
      setupLinks.mail(account.id).catch((error: unknown) => {
        failed++
        printToStderr(terminal, `no link was mailed to ${account.email}: ${errorMessage(error)}`)
      }),
    )
    await Promise.all(sending)
  }
  if (failed > 0)
    throw new OperatorError(
      `${failed} of ${created.length} set-up links were not mailed; the accounts are imported`,
      {
        hint: 'Mail them again with gatehouse accounts setup-link EMAIL --mail-link.',
      },
    )
}

const mailsAtOnce = 4

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
