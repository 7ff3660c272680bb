import { type BadLine, hasMoreLines, type ImportFile, importMax } from '../../accounts/import.ts'
import { findBadLines, readImportFile } from '../../accounts/import-file.ts'
import { GatehouseError } from '../../errors.ts'
import { emptyForm } from '../../portal/frame.ts'
import { type ImportView, importPage } from '../../portal/import.ts'
import type { Answer } from './answer.ts'
import { importBytesMax } from './form-body.ts'
import type { Pages } from './pages.ts'
import type { SignedInVisit } from './visit.ts'

const tooMany = `More than ${count(importMax.portal)} accounts, the most at once here. Split them, or use the command: gatehouse accounts import FILE takes ${count(importMax.command)}.`

/** Pages to make many accounts from a file, for Admins. */
export const importPages: Pages = () => [
  {
    path: '/accounts/import',
    bytesMax: importBytesMax,
    get: async (visit) =>
      visit.show((frame) => importPage(frame, { state: emptyForm, badLines: [], imported: undefined })),
    post: importAccounts,
  },
]

async function importAccounts(visit: SignedInVisit): Promise<Answer> {
  const { acts } = visit
  const bytes = chosen(visit)
  // Checked before parsing, which takes time; one line may be the heading.
  if (hasMoreLines(bytes.toString('latin1'), importMax.portal + 1)) {
    return refuseImport(visit, { message: tooMany })
  }
  const file = readImportFile(bytes)
  const { accounts, badLines } = file
  const nothing = accounts.length === 0 && badLines.length === 0
  if (nothing) return refuseImport(visit, { message: 'Choose a file, or paste its lines.' })
  if (accounts.length > importMax.portal) return refuseImport(visit, { message: tooMany })
  const bad = await findBadLines(file, acts.accounts)
  if (bad.length > 0) return refuseLines(visit, file, bad)
  try {
    const imported = await acts.accounts.createAll(accounts.map(({ input }) => input))
    return visit.show((frame) => importPage(frame, { state: emptyForm, badLines: [], imported }))
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.code !== 'account-exists') throw error
    // One of the accounts was made by somebody else in the meantime.
    return refuseLines(visit, file, await findBadLines(file, acts.accounts))
  }
}

/** The uploaded file or, without one, the pasted text. */
function chosen({ file, form }: SignedInVisit): Buffer {
  const bytes = file('file')
  return bytes.toString('latin1').trim() === '' ? Buffer.from(form('text')) : bytes
}

/** If the only error is that all accounts exist, there is nothing to correct. */
function refuseLines(visit: SignedInVisit, file: ImportFile, badLines: readonly BadLine[]): Answer {
  const isRepeated = file.badLines.length === 0 && badLines.length === file.accounts.length
  return refuseImport(visit, { badLines, isRepeated })
}

function refuseImport(
  visit: SignedInVisit,
  { message, ...more }: Partial<Pick<ImportView, 'badLines' | 'isRepeated'>> & { readonly message?: string },
): Answer {
  const state = { values: { text: visit.form('text') }, errors: {}, message }
  const view = { state, badLines: [], imported: undefined, ...more }
  return visit.show((frame) => importPage(frame, view), { status: 400, headers: {} })
}

function count(accounts: number): string {
  return accounts.toLocaleString('en')
}
