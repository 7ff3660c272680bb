import type { CreatedAccount } from '#accounts/accounts.ts'
import {
  type BadLine,
  findBadLines,
  hasMoreLines,
  type ImportFile,
  importMax,
  readImportFile,
} from '#accounts/import-file.ts'
import { recordReason } from '#gateway/arrival/outcome.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import type { SignedInContext } from '../page-context.ts'
import type { CreatePages } from '../portal-page.ts'
import type { PageResult } from '../portal-response.ts'
import { lineMessage } from '../texts/texts.ts'
import { type ImportView, importPage } from '../views/accounts/import-page.ts'
import { emptyForm } from '../views/frame.ts'

const importBytesMax = 10_485_760

/** The page to create accounts from a file, for Admins. */
export const importPages: CreatePages = () => [
  {
    path: '/accounts/import',
    bytesMax: importBytesMax,
    get: async (context) => context.show((frame) => importPage(frame, { state: emptyForm })),
    post: importAccounts,
  },
]

async function importAccounts(context: SignedInContext): Promise<PageResult> {
  const { actions } = context
  const texts = context.texts.accountImport
  const bytes = uploadedBytes(context)
  // Checked before parsing, which takes time; one line may be the header row.
  if (hasMoreLines(bytes.toString('latin1'), importMax.portal + 1)) {
    return refuseImport(context, { message: texts.tooMany(importMax.portal, importMax.command) })
  }
  const file = await readImportFile(bytes)
  const { accounts, badLines } = file
  const nothing = accounts.length === 0 && badLines.length === 0
  if (nothing) return refuseImport(context, { message: texts.nothing })
  if (accounts.length > importMax.portal)
    return refuseImport(context, { message: texts.tooMany(importMax.portal, importMax.command) })
  const bad = await findBadLines(file, actions.accounts)
  if (bad.length > 0) return refuseLines(context, file, bad)
  try {
    const imported = await actions.accounts.createAll(accounts.map(({ input }) => input))
    const isMailed = context.form('mailsLink') === 'true' && actions.setupLinks.canMail
    if (isMailed) await mailLinks(context, imported)
    return context.show((frame) => importPage(frame, { state: emptyForm, imported, isMailed }))
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.code !== 'account-exists') throw error
    // One of the accounts was created concurrently.
    return refuseLines(context, file, await findBadLines(file, actions.accounts))
  }
}

/** Failures are logged; the keys of all accounts are shown nevertheless. */
async function mailLinks(
  { actions, request }: SignedInContext,
  imported: readonly CreatedAccount[],
): Promise<void> {
  for (const { account } of imported) {
    try {
      await actions.setupLinks.mail(account.id)
    } catch (error) {
      recordReason(
        request.arrival.outcome,
        `set-up links not created from ${account.id} on: ${errorMessage(error)}`,
      )
      return
    }
  }
}

/** The uploaded file or, without one, the pasted text. */
function uploadedBytes({ file, form }: SignedInContext): Buffer {
  const bytes = file('file')
  return bytes.toString('latin1').trim() === '' ? Buffer.from(form('text')) : bytes
}

/** Shows the bad lines. If all accounts exist already and nothing else is wrong, there is nothing to correct. */
function refuseLines(context: SignedInContext, file: ImportFile, badLines: readonly BadLine[]): PageResult {
  const isRepeated = file.badLines.length === 0 && badLines.length === file.accounts.length
  return refuseImport(context, { badLines, isRepeated })
}

function refuseImport(
  context: SignedInContext,
  {
    message,
    badLines = [],
    isRepeated = false,
  }: Partial<Pick<ImportView, 'badLines' | 'isRepeated'>> & { readonly message?: string },
): PageResult {
  const state = {
    values: { text: context.form('text'), mailsLink: context.form('mailsLink') },
    errors: {},
    message,
  }
  const shown = badLines.map((bad) => ({ ...bad, message: lineMessage(context.texts, bad.message) }))
  const view = { state, badLines: shown, isRepeated }
  return context.show((frame) => importPage(frame, view), { status: 400, headers: {} })
}
