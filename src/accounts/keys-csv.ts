import type { CreatedAccount } from './accounts.ts'
import { csvLine } from './csv-line.ts'

export const keysCsvHeading = csvLine(['id', 'email', 'secretKey', 'apiKey'])

/** The keys of new accounts as CSV, without the heading. */
export function keysCsvLines(created: readonly CreatedAccount[]): string {
  return created
    .map(({ account: { id, email }, secretKey, apiKey }) => csvLine([id, email, secretKey, apiKey]))
    .join('')
}
