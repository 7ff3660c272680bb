import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { isLanguage } from '#platform/languages.ts'
import type { Form } from './forms/body.ts'
import { asFieldError, type FormRefusal, formRefusal } from './forms/refusal.ts'
import type { SignedInContext } from './page-context.ts'
import type { CreatePages } from './portal-page.ts'
import { type PageResult, redirectTo } from './portal-response.ts'
import { assertPasswordsMatch } from './sign-in/link-pages.ts'
import { type ProfileForm, profilePage } from './views/profile-page.ts'

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
