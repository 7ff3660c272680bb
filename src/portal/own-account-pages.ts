import { readUsageReport, usageFile } from '#accounts/usage/reports.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { isLanguage } from '#platform/languages.ts'
import type { Account } from '#store/accounts.ts'
import type { DayRange } from '#store/usage.ts'
import type { Form } from './forms/body.ts'
import { asFieldError, type FormRefusal, formRefusal } from './forms/refusal.ts'
import type { SignedInContext } from './page-context.ts'
import { accountOf, type CreatePages, queryOf } from './portal-page.ts'
import { type PageResult, redirectTo } from './portal-response.ts'
import { assertPasswordsMatch } from './sign-in/link-pages.ts'
import { type ProfileForm, profilePage } from './views/profile-page.ts'
import { type SessionsList, sessionsPage } from './views/sessions-page.ts'
import { usagePage } from './views/usage-page.ts'

/** One's own name, e-mail, language and password. */
export const profilePages: CreatePages = (options) => [
  { path: '/profile', get: (context) => showProfile(context) },
  {
    path: '/profile/name',
    post: async ({ actions, viewer, form }) => {
      await actions.profile.rename(viewer.account.id, namesOf(form))
      return redirectTo('/profile', 'name-saved')
    },
    refused: (context, error) =>
      showProfile(context, { form: 'name', ...formRefusal(context, error, namesOf(context.form)) }),
  },
  {
    path: '/profile/email',
    asksPassword: true,
    post: async ({ actions, viewer, form, language }) => {
      await actions.profile.sendVerification(viewer.account.id, form('email').trim(), language)
      return redirectTo('/profile', 'link-sent')
    },
    refused: (context, error) =>
      showProfile(context, {
        form: 'email',
        ...formRefusal(context, error, { email: context.form('email').trim() }),
      }),
  },
  {
    path: '/profile/language',
    post: async ({ actions, viewer, form, texts }) => {
      const language = form('language')
      if (language !== '' && !isLanguage(language))
        throw invalidField('language', texts.profile.chooseLanguage)
      await actions.profile.setLanguage(viewer.account.id, language === '' ? undefined : language)
      return redirectTo('/profile', 'language-saved')
    },
    refused: (context, error) => showProfile(context, { form: 'language', ...formRefusal(context, error) }),
  },
  {
    path: '/profile/password',
    post: async (context) => {
      const { viewer, visitor, form, request } = context
      assertPasswordsMatch(context)
      const change = { current: form('current'), password: form('password') }
      options.cookies.setSession(request, await options.signIn.changePassword(viewer, change, visitor))
      return redirectTo('/profile', 'password-changed')
    },
    refused: (context, error) => {
      const fieldError = asFieldError(error, 'current', context.texts.profile.wrongPassword)
      return showProfile(context, { form: 'password', ...formRefusal(context, fieldError) })
    },
  },
]

async function showProfile(
  context: SignedInContext,
  refused?: FormRefusal & { readonly form: ProfileForm },
): Promise<PageResult> {
  const { account } = context.viewer
  const { canSend } = context.actions.profile
  const hasSecondFactor = account.portal.secondFactor !== undefined
  return context.show((frame) => profilePage(frame, { account, canSend, hasSecondFactor, refused }), refused)
}

function namesOf(form: Form) {
  return { firstName: form('firstName').trim(), lastName: form('lastName').trim() }
}

/** The sessions of one's own account. */
export const sessionsPages: CreatePages = () => [
  {
    path: '/sessions',
    get: async (context) => {
      const { account, session } = context.viewer
      const [sessions, portalSessions] = await Promise.all([
        readSessionsPage(context, account.id),
        context.actions.sessions.listPortal(account.id),
      ])
      return context.show((frame) => sessionsPage(frame, { sessions, portalSessions, current: session.id }))
    },
  },
  {
    path: '/sessions/end',
    post: async ({ actions, viewer, form }) =>
      sessionEnded(await actions.sessions.end(viewer.account.id, form('session'))),
  },
  {
    path: '/sessions/end-all',
    post: async ({ actions, viewer }) => {
      await actions.sessions.endAllTokens(viewer.account.id)
      return redirectTo('/sessions', 'sessions-ended')
    },
  },
  {
    path: '/sessions/end-portal',
    post: async ({ actions, viewer, form }) =>
      sessionEnded(await actions.sessions.endPortal(viewer.account.id, form('session'))),
  },
]

/** The notices after a form that ends one session: the session has ended, or had already ended before. */
export const sessionNotices = ['session-ended', 'session-gone'] as const

function sessionEnded(hasEnded: boolean): PageResult {
  const [ended, gone] = sessionNotices
  return redirectTo('/sessions', hasEnded ? ended : gone)
}

const sessionsPerPage = 25

/**
 * The page of an account's sessions that the request's query asks for (`cursor`), newest first.
 * @throws GatehouseError `request-invalid` (field `cursor`)
 */
export async function readSessionsPage(context: SignedInContext, accountId: string): Promise<SessionsList> {
  const cursor = queryOf(context)('cursor') || undefined
  const page = await context.actions.sessions.page(accountId, { cursor, limit: sessionsPerPage })
  return { ...page, isFirstPage: cursor === undefined }
}

/** What an account has used: one's own, and for Admins any account. */
export const usagePages: CreatePages = () => [
  { path: '/usage', get: (context) => showUsage(context, context.viewer.account, '/usage') },
  { path: '/usage/export', get: (context) => exportUsage(context, context.viewer.account) },
  {
    path: '/accounts/:id/usage',
    get: async (context) => {
      const account = await accountOf(context)
      return showUsage(context, account, `/accounts/${account.id}/usage`)
    },
  },
  {
    path: '/accounts/:id/usage/export',
    get: async (context) => exportUsage(context, await accountOf(context)),
  },
]

async function showUsage(context: SignedInContext, account: Account, path: string): Promise<PageResult> {
  const report = await readUsageReport(context.actions, account, daysOf(context))
  const isOwn = path === '/usage'
  return context.show((frame) => usagePage(frame, { ...report, account, isOwn, path }))
}

async function exportUsage(context: SignedInContext, account: Account): Promise<PageResult> {
  const counts = await context.actions.usage.read(account.id, daysOf(context))
  return { kind: 'file', file: usageFile(counts) }
}

/** The days that the query asks for; by default those of this month. @throws GatehouseError `request-invalid` */
function daysOf(context: SignedInContext): DayRange {
  const query = queryOf(context)
  const texts = { from: query('from') || undefined, to: query('to') || undefined }
  const days = context.actions.usage.parseDays(texts)
  if ('field' in days) throw invalidField(days.field, days.message)
  return days
}
