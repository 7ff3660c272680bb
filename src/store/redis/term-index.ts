import type { Account } from '../account.ts'
import type { TermEntry } from '../accounts.ts'
import type { TermIndex } from '../search.ts'
import type { Connection } from './connection.ts'

/** The index that accounts are searched by: `term NUL id` in a sorted set whose scores are all the same. */
export function createTermIndex(
  { keys, ask, confirmAbsence }: Connection,
  find: (id: string) => Promise<Account | undefined>,
): TermIndex {
  async function findTerms(prefix: string, after: TermEntry | undefined, limit: number) {
    // As bytes: 0xff, which no text in UTF-8 has, sorts after everything that begins with the prefix.
    const end = Buffer.concat([Buffer.from(`[${prefix}`), Buffer.from([0xff])])
    const start = after === undefined ? `[${prefix}` : `(${after.term}\0${after.id}`
    const entries = await ask((client) => client.zrangebylex(keys.terms, start, end, 'LIMIT', 0, limit))
    if (entries.length === 0) await confirmAbsence()
    return entries.map(toEntry)
  }

  return { find: findTerms, load: (ids) => Promise.all(ids.map(find)) }
}

function toEntry(text: string): TermEntry {
  const end = text.indexOf('\0')
  return { term: text.slice(0, end), id: text.slice(end + 1) }
}
