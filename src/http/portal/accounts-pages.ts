import { type BadLine, hasMoreLines, importMax, parseImportFile } from '../../accounts/import.ts'
import { GatehouseError } from '../../errors.ts'
import { accountsPage, importPage, newAccountPage } from '../../portal/accounts.ts'
import { emptyForm } from '../../portal/frame.ts'
import { firstLink } from '../first-link.ts'
import { profileOf, showNewAccount } from './account.ts'
import type { Answer } from './answer.ts'
import { importBytesMax } from './form-body.ts'
import { type Pages, queryOf } from './pages.ts'
import { refusalOf } from './refusal.ts'
import type { SignedInVisit } from './visit.ts'

const pageSize = 25
const tooMany = `More than ${count(importMax.portal)} accounts, the most at once here. Split them, or use the command: gatehouse accounts import FILE takes ${count(importMax.command)}.`

/** Finding accounts and making them, for Admins. */
export const accountsPages: Pages = () => [
  { path: '/accounts', access: 'admin', get: listAccounts },
  {
    path: '/accounts/new',
    access: 'admin',
    get: async (visit) => visit.show((frame) => newAccountPage(frame)),
    post: createAccount,
  },
  {
    path: '/accounts/import',
    access: 'admin',
    bytesMax: importBytesMax,
    get: async (visit) =>
      visit.show((frame) => importPage(frame, { state: emptyForm, badLines: [], imported: undefined })),
    post: importAccounts,
  },
]

async function listAccounts(visit: SignedInVisit): Promise<Answer> {
  const query = queryOf(visit)
  const q = query('q').trim()
  const cursor = query('cursor') || undefined
  const common = { query: q, isFirstPage: cursor === undefined }
  try {
    const page = await visit.acts.search.page({ query: q, cursor, limit: pageSize })
    return visit.show((frame) => accountsPage(frame, { ...common, ...page }))
  } catch (error) {
    const refusal = refusalOf(error, {})
    const message = refusal.state.message ?? Object.values(refusal.state.errors).join(' ')
    const nothing = { items: [], nextCursor: undefined, error: message }
    return visit.show((frame) => accountsPage(frame, { ...common, ...nothing }), refusal)
  }
}

async function createAccount(visit: SignedInVisit): Promise<Answer> {
  const { acts, form, request } = visit
  const input = profileOf(form)
  try {
    const isVerified = form('isVerified') === 'true'
    const { account, secretKey, apiKey } = await acts.accounts.create({ ...input, isVerified })
    const link = await firstLink(request, acts.setupLinks, account.id)
    return showNewAccount(visit, account, { kind: 'created', secretKey, apiKey, link })
  } catch (error) {
    const refusal = refusalOf(error, { ...input, isVerified: form('isVerified') })
    return visit.show((frame) => newAccountPage(frame, refusal.state), refusal)
  }
}

async function importAccounts(visit: SignedInVisit): Promise<Answer> {
  const { acts, form } = visit
  const text = form('file').trim() === '' ? form('text') : form('file')
  const typed = { text: form('text') }
  // Before it is parsed, which takes time; one line may be the heading.
  if (hasMoreLines(text, importMax.portal + 1)) return refuseImport(visit, typed, [], tooMany)
  const { accounts, badLines } = parseImportFile(text)
  const nothing = accounts.length === 0 && badLines.length === 0
  if (nothing) return refuseImport(visit, typed, [], 'Choose a file, or paste its lines.')
  if (accounts.length > importMax.portal) return refuseImport(visit, typed, [], tooMany)
  if (badLines.length > 0) return refuseImport(visit, typed, badLines)
  try {
    await acts.accounts.createAll(accounts.map(({ input }) => input))
  } catch (error) {
    const taken = takenLines(error, accounts)
    if (taken.length === 0) throw error
    return refuseImport(visit, typed, taken)
  }
  const view = { state: emptyForm, badLines: [], imported: accounts.length }
  return visit.show((frame) => importPage(frame, view))
}

function count(accounts: number): string {
  return accounts.toLocaleString('en')
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

/** The lines whose e-mails somebody has already. */
function takenLines(
  error: unknown,
  accounts: readonly { readonly line: number; readonly input: { readonly email: string } }[],
): readonly BadLine[] {
  if (!(error instanceof GatehouseError) || error.code !== 'account-exists') return []
  const messages = (error.errors ?? []).map(({ message }) => message)
  return accounts.flatMap(({ line, input }) => {
    const message = `${input.email} is taken`
    return messages.includes(message) ? [{ line, message: `email: ${message}` }] : []
  })
}
