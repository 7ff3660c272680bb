import { accountsCsv, listedAccountData } from '#accounts/account-data.ts'
import {
  type AccountQuery,
  type AccountQueryField,
  accountQueryFields,
  parseAccountQuery,
} from '#accounts/account-query.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { keysOf } from '#platform/json.ts'
import { countOf } from '#platform/text.ts'
import { formatDay } from '#platform/time.ts'
import { matchesEvery } from '#store/account-search.ts'
import type { Account, ListedAccount } from '#store/accounts.ts'
import { type Command, type Invocation, type Option, UsageError } from '../command.ts'
import { withOperator } from '../operator.ts'
import { writeChunks } from '../output.ts'
import {
  createJsonFormat,
  createTableFormat,
  csvOption,
  type ListFormat,
  printToStderr,
  wantsCsv,
} from '../print.ts'

/** The options, by the names that the admin API has for them. */
const optionNames = {
  q: 'search',
  role: 'role',
  plan: 'plan',
  disabled: 'disabled',
  activeSince: 'active-since',
  inactiveSince: 'inactive-since',
  sort: 'sort',
} as const satisfies Readonly<Record<AccountQueryField, string>>

const fields = keysOf(optionNames)

const filterOptions: Readonly<Record<string, Option>> = Object.fromEntries(
  fields.map((field) => [optionNames[field], accountQueryFields[field]]),
)

/** Reads page by page, so that any number of accounts takes no more memory than a page. */
export const listAccountsCommand: Command = {
  name: 'accounts list',
  summary: 'Lists all accounts, or those that pass a filter.',
  examples: [
    'gatehouse accounts list',
    'gatehouse accounts list --role Admin --disabled false',
    'gatehouse accounts list --inactive-since 2026-08-01 --csv > unused.csv',
  ],
  options: { ...filterOptions, ...csvOption },
  run: async (invocation) => {
    const asCsv = wantsCsv(invocation)
    const query = queryOf(invocation)
    const isNarrowed = !matchesEvery(query.filter)
    await withOperator(invocation.config, async ({ accounts, search }) => {
      const unknownPlans = createUnknownPlans(accounts.planNames)
      const pages = notingEach(search.all(query), unknownPlans.add)
      await writeChunks(
        invocation.terminal.out,
        asCsv ? accountsCsv(pages) : textOf(pages, invocation, isNarrowed),
      )
      unknownPlans.warn(invocation)
    })
  },
}

function textOf(
  pages: AsyncIterable<readonly ListedAccount[]>,
  { asJson }: Invocation,
  isNarrowed: boolean,
): AsyncGenerator<string> {
  if (asJson) return formatted(pages, createJsonFormat(listedAccountData))
  const table = createTableFormat<ListedAccount>({
    columns: {
      ID: ({ id }) => id,
      'E-MAIL': ({ email }) => email,
      ROLE: ({ role }) => role,
      VERIFIED: ({ isVerified }) => (isVerified ? 'yes' : 'no'),
      DISABLED: ({ isDisabled }) => (isDisabled ? 'yes' : 'no'),
      PLAN: ({ plan }) => plan,
      'LAST ACTIVE': ({ lastActiveDay }) =>
        lastActiveDay === undefined ? undefined : formatDay(lastActiveDay),
    },
    whenEmpty: isNarrowed
      ? 'No account matches.'
      : 'No accounts yet. Create one with: gatehouse accounts create --email E',
  })
  return formatted(pages, table)
}

/** @throws UsageError */
function queryOf(invocation: Invocation): AccountQuery {
  try {
    return parseAccountQuery((field) => invocation.text(optionNames[field]))
  } catch (error) {
    const [first] = error instanceof GatehouseError ? (error.errors ?? []) : []
    const field = fields.find((name) => name === first?.field)
    if (!first || !field) throw error
    throw new UsageError(`--${optionNames[field]} ${first.message}`)
  }
}

async function* notingEach(
  pages: AsyncIterable<readonly ListedAccount[]>,
  onPage: (page: readonly ListedAccount[]) => void,
): AsyncGenerator<readonly ListedAccount[]> {
  for await (const page of pages) {
    onPage(page)
    yield page
  }
}

async function* formatted<Item>(
  pages: AsyncIterable<readonly Item[]>,
  { batch, end }: ListFormat<Item>,
): AsyncGenerator<string> {
  for await (const page of pages) yield batch(page)
  yield end()
}

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
        const who = countOf(count, 'account has', 'accounts have')
        printToStderr(terminal, `warning: ${who} the plan "${plan}", which is not in the config: not limited`)
      }
    },
  }
}
