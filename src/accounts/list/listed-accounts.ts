import { formatDay } from '#platform/time.ts'
import type { ListedAccount } from '#store/accounts.ts'
import { accountData } from '../account-data.ts'
import type { FileDownload } from '../audit/log.ts'
import { csvLine, exportLine } from '../csv.ts'

/** An account of a list, as commands, exports and the admin API show it. */
export function listedAccountData(account: ListedAccount) {
  const { lastActiveDay } = account
  return {
    ...accountData(account),
    lastActiveOn: lastActiveDay === undefined ? null : formatDay(lastActiveDay),
  }
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
  'lastActiveOn',
] as const

/** Pages of accounts as CSV (RFC 4180) with a header. */
export async function* accountsCsv(pages: AsyncIterable<readonly ListedAccount[]>): AsyncGenerator<string> {
  yield csvLine(columns)
  const lineOf = exportLine('csv', columns)
  for await (const page of pages) yield page.map((account) => lineOf(listedAccountData(account))).join('')
}

/** Pages of accounts as a CSV file to download. */
export function accountsFile(pages: AsyncIterable<readonly ListedAccount[]>): FileDownload {
  return { name: 'accounts.csv', type: 'text/csv; charset=utf-8', chunks: accountsCsv(pages) }
}
