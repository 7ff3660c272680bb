import { asFieldError, confirmPassword, type FormRefusal, formRefusal } from './form-refusal.ts'
import type { SignedInContext } from './page-context.ts'
import { assertPasswordsMatch } from './passwords/link-pages.ts'
import type { CreatePages } from './portal-page.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import { type ProfileForm, profilePage } from './views/profile.ts'

/** One's own name, e-mail and password. */
export const profilePages: CreatePages = (options) => {
  const { signIn, cookie } = options

  async function show(
    context: SignedInContext,
    refused?: { form: ProfileForm } & FormRefusal,
  ): Promise<PortalResponse> {
    const { account } = context.viewer
    const { canSend } = context.actions.profile
    const hasSecondFactor = account.portal.secondFactor !== undefined
    return context.show(
      (frame) => profilePage(frame, { account, canSend, hasSecondFactor, refused }),
      refused,
    )
  }

  async function saveName(context: SignedInContext): Promise<PortalResponse> {
    const { actions, viewer, form } = context
    const names = { firstName: form('firstName').trim(), lastName: form('lastName').trim() }
    try {
      await actions.profile.rename(viewer.account.id, names)
    } catch (error) {
      return show(context, { form: 'name', ...formRefusal(error, names) })
    }
    return redirectTo('/profile', 'name-saved')
  }

  async function changeEmail(context: SignedInContext): Promise<PortalResponse> {
    const { actions, viewer, form } = context
    const email = form('email').trim()
    try {
      await confirmPassword(context, options)
      await actions.profile.sendVerification(viewer.account.id, email)
    } catch (error) {
      return show(context, { form: 'email', ...formRefusal(error, { email }) })
    }
    return redirectTo('/profile', 'link-sent')
  }

  async function changePassword(context: SignedInContext): Promise<PortalResponse> {
    const { viewer, visitor, form, request } = context
    const change = { current: form('current'), password: form('password') }
    try {
      assertPasswordsMatch(context)
      cookie.set(request, await signIn.changePassword(viewer, change, visitor))
    } catch (error) {
      const refusal = formRefusal(asFieldError(error, 'current', 'The current password is wrong.'), {})
      return show(context, { form: 'password', ...refusal })
    }
    return redirectTo('/profile', 'password-changed')
  }

  return [
    { path: '/profile', get: (context) => show(context) },
    { path: '/profile/name', post: saveName },
    { path: '/profile/email', post: changeEmail },
    { path: '/profile/password', post: changePassword },
  ]
}
