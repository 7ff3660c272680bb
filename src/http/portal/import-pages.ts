import { type BadLine, hasMoreLines, importMax } from '../../accounts/import.ts'
import { findBadLines, readImportFile } from '../../accounts/import-file.ts'
import { GatehouseError } from '../../errors.ts'
import { emptyForm } from '../../portal/frame.ts'
import { importPage } from '../../portal/import.ts'
import type { Answer } from './answer.ts'
import { importBytesMax } from './form-body.ts'
import type { Pages } from './pages.ts'
import type { SignedInVisit } from './visit.ts'

const tooMany = `More than ${count(importMax.portal)} accounts, the most at once here. Split them, or use the command: gatehouse accounts import FILE takes ${count(importMax.command)}.`

/** Making many accounts of a file, for Admins. */
export const importPages: Pages = () => [
  {
    path: '/accounts/import',
    access: 'admin',
    bytesMax: importBytesMax,
    get: async (visit) =>
      visit.show((frame) => importPage(frame, { state: emptyForm, badLines: [], imported: undefined })),
    post: importAccounts,
  },
]

async function importAccounts(visit: SignedInVisit): Promise<Answer> {
  const { acts, form } = visit
  const bytes = chosen(visit)
  const typed = { text: form('text') }
  // Before it is parsed, which takes time; one line may be the heading.
  if (hasMoreLines(bytes.toString('latin1'), importMax.portal + 1)) {
    return refuseImport(visit, typed, [], tooMany)
  }
  const file = readImportFile(bytes)
  const { accounts, badLines } = file
  const nothing = accounts.length === 0 && badLines.length === 0
  if (nothing) return refuseImport(visit, typed, [], 'Choose a file, or paste its lines.')
  if (accounts.length > importMax.portal) return refuseImport(visit, typed, [], tooMany)
  const bad = await findBadLines(file, acts.accounts)
  if (bad.length > 0) return refuseImport(visit, typed, bad)
  try {
    const imported = await acts.accounts.createAll(accounts.map(({ input }) => input))
    return visit.show((frame) => importPage(frame, { state: emptyForm, badLines: [], imported }))
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.code !== 'account-exists') throw error
    // Somebody was quicker to make one of them.
    return refuseImport(visit, typed, await findBadLines(file, acts.accounts))
  }
}

/** The file or, where there is none, what was pasted. */
function chosen({ file, form }: SignedInVisit): Buffer {
  const bytes = file('file')
  return bytes.toString('latin1').trim() === '' ? Buffer.from(form('text')) : bytes
}

function refuseImport(
  visit: SignedInVisit,
  values: Readonly<Record<string, string>>,
  badLines: readonly BadLine[],
  message?: string,
): Answer {
  const view = { state: { values, errors: {}, message }, badLines, imported: undefined }
  return visit.show((frame) => importPage(frame, view), { status: 400, headers: {} })
}

function count(accounts: number): string {
  return accounts.toLocaleString('en')
}
