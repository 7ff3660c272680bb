import { accountData } from '#accounts/account-data.ts'
import type { Accounts } from '#accounts/accounts.ts'
import { csvLine } from '#accounts/csv.ts'
import type { Account } from '#store/account.ts'
import type { Command, Invocation } from '../command.ts'
import { withOperator } from '../operator.ts'
import { columnWidths, csvOption, printToStderr, tableRow, wantsCsv } from '../print.ts'
import { writeChunks } from '../terminal/output.ts'

const pageSize = 500

/** Reads page by page, so that any number of accounts takes no more memory than a page. */
export const listAccountsCommand: Command = {
  name: 'accounts list',
  operands: [],
  summary: 'Lists all accounts, the newest first.',
  examples: ['gatehouse accounts list', 'gatehouse accounts list --csv > accounts.csv'],
  options: csvOption,
  printsData: true,
  run: async (invocation) => {
    const format = formatOf(invocation)
    await withOperator(invocation.config, async ({ accounts }) => {
      const unknownPlans = createUnknownPlans(accounts.planNames)
      await writeChunks(invocation.terminal.out, format(pagesOf(accounts, unknownPlans.add)))
      unknownPlans.warn(invocation)
    })
  },
}

type Pages = AsyncIterable<readonly Account[]>
type Format = (pages: Pages) => AsyncGenerator<string>

function formatOf(invocation: Invocation): Format {
  if (wantsCsv(invocation)) return toCsv
  return invocation.asJson ? toJson : toTable
}

async function* pagesOf(
  accounts: Accounts,
  onPage: (page: readonly Account[]) => void,
): AsyncGenerator<readonly Account[]> {
  for (let after: Account | undefined; ; ) {
    const page = await accounts.list({ after, limit: pageSize })
    onPage(page)
    if (page.length > 0) yield page
    after = page.at(-1)
    if (page.length < pageSize) return
  }
}

async function* toJson(pages: Pages): AsyncGenerator<string> {
  let isFirst = true
  for await (const page of pages) {
    const items = page.map((account) => indented(JSON.stringify(accountData(account), undefined, 2)))
    yield `${isFirst ? '[' : ','}\n${items.join(',\n')}`
    isFirst = false
  }
  yield isFirst ? '[]\n' : '\n]\n'
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '  ')
}

async function* toCsv(pages: Pages): AsyncGenerator<string> {
  yield csvLine(columns)
  for await (const page of pages) yield page.map(csvRow).join('')
}

const columns = [
  'id',
  'email',
  'firstName',
  'lastName',
  'role',
  'isVerified',
  'disabled',
  'plan',
  'createdAt',
] as const

function csvRow(account: Account): string {
  const data = accountData(account)
  return csvLine(columns.map((name) => String(data[name] ?? '')))
}

/** The columns are as wide as the first page needs. */
async function* toTable(pages: Pages): AsyncGenerator<string> {
  let widths: readonly number[] | undefined
  for await (const page of pages) {
    const rows = page.map(({ id, email, role, isVerified, isDisabled, plan }) => [
      id,
      email,
      role,
      isVerified ? 'yes' : 'no',
      isDisabled ? 'yes' : 'no',
      plan ?? '-',
    ])
    const isFirst = widths === undefined
    widths ??= columnWidths([headings, ...rows])
    const shown = widths
    yield (isFirst ? [headings, ...rows] : rows).map((row) => `${tableRow(row, shown)}\n`).join('')
  }
  if (!widths) yield 'No accounts yet. Create one with: gatehouse accounts create --email E\n'
}

const headings = ['ID', 'E-MAIL', 'ROLE', 'VERIFIED', 'DISABLED', 'PLAN']

/** Warns about plans that are no longer in the config: their accounts are not limited. */
export function createUnknownPlans(known: readonly string[]) {
  const counts = new Map<string, number>()
  return {
    add: (accounts: readonly Account[]): void => {
      for (const { plan } of accounts) {
        if (plan !== undefined && !known.includes(plan)) counts.set(plan, (counts.get(plan) ?? 0) + 1)
      }
    },
    warn: ({ terminal }: Pick<Invocation, 'terminal'>): void => {
      for (const [plan, count] of counts) {
        const who = count === 1 ? '1 account has' : `${count} accounts have`
        printToStderr(terminal, `warning: ${who} the plan "${plan}", which is not in the config: not limited`)
      }
    },
  }
}
