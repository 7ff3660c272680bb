import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import type { Accounts } from './accounts.ts'
import { type BadLine, type ImportFile, parseImportFile } from './import.ts'

/** How many e-mails are looked up at the same time. */
const lookUpBatchSize = 200

/** Reads a file of accounts. A line that is not UTF-8 would be stored with replacement characters: it is bad. */
export function readImportFile(bytes: Buffer): ImportFile {
  return parseImportFile(bytes.toString(), isUtf8(bytes) ? undefined : findInvalidUtf8Lines(bytes))
}

/** Lines that are not UTF-8, counted from 1. */
function findInvalidUtf8Lines(bytes: Buffer): ReadonlySet<number> {
  // Read as latin1, each line keeps its bytes, whatever its encoding, as long as that includes ASCII.
  const lines = bytes.toString('latin1').split(/\r\n|\n|\r/)
  return new Set(lines.flatMap((line, index) => (isUtf8(Buffer.from(line, 'latin1')) ? [] : [index + 1])))
}

/**
 * All bad lines of a file, in order: those that cannot be read, and those whose e-mail is taken.
 * @param onChecked called with the number of accounts checked so far
 */
export async function findBadLines(
  { accounts: entries, badLines }: ImportFile,
  accounts: Pick<Accounts, 'findTaken'>,
  onChecked?: (count: number) => void,
): Promise<readonly BadLine[]> {
  const taken: BadLine[] = []
  for (let start = 0; start < entries.length; start += lookUpBatchSize) {
    const batch = entries.slice(start, start + lookUpBatchSize)
    const found = new Set(await accounts.findTaken(batch.map(({ input }) => input.email)))
    for (const { line, input } of batch) {
      if (found.has(input.email))
        taken.push({ line, message: `email: ${input.email} already has an account` })
    }
    onChecked?.(start + batch.length)
    // Yields to other requests: SQLite is synchronous.
    await setImmediate()
  }
  return [...badLines, ...taken].toSorted((a, b) => a.line - b.line)
}
