import { type ProfileForm, profilePage } from '../../portal/profile.ts'
import { type Answer, goTo } from './answer.ts'
import { atField, confirmPassword } from './confirm.ts'
import { assertSameTwice } from './door-pages.ts'
import { type FormRefusal, formRefusal } from './form-refusal.ts'
import type { Pages } from './pages.ts'
import type { SignedInVisit } from './visit.ts'

/** One's own name, e-mail and password. */
export const profilePages: Pages = ({ signIn, cookie }) => {
  async function show(visit: SignedInVisit, refused?: { form: ProfileForm } & FormRefusal): Promise<Answer> {
    const { account } = visit.viewer
    const { canSend } = visit.acts.profile
    return visit.show((frame) => profilePage(frame, { account, canSend, refused }), refused)
  }

  async function saveName(visit: SignedInVisit): Promise<Answer> {
    const { acts, viewer, form } = visit
    const names = { firstName: form('firstName').trim(), lastName: form('lastName').trim() }
    try {
      await acts.profile.rename(viewer.account.id, names)
    } catch (error) {
      return show(visit, { form: 'name', ...formRefusal(error, names) })
    }
    return goTo('/profile', 'name-saved')
  }

  async function changeEmail(visit: SignedInVisit): Promise<Answer> {
    const { acts, viewer, form } = visit
    const email = form('email').trim()
    try {
      await confirmPassword(visit, signIn)
      await acts.profile.sendVerification(viewer.account.id, email)
    } catch (error) {
      return show(visit, { form: 'email', ...formRefusal(error, { email }) })
    }
    return goTo('/profile', 'link-sent')
  }

  async function changePassword(visit: SignedInVisit): Promise<Answer> {
    const { viewer, visitor, form, reply } = visit
    const change = { current: form('current'), password: form('password') }
    try {
      assertSameTwice(visit)
      cookie.set(reply, await signIn.changePassword(viewer, change, visitor))
    } catch (error) {
      const refusal = formRefusal(atField(error, 'current', 'The current password is wrong.'), {})
      return show(visit, { form: 'password', ...refusal })
    }
    return goTo('/profile', 'password-changed')
  }

  return [
    { path: '/profile', get: (visit) => show(visit) },
    { path: '/profile/name', post: saveName },
    { path: '/profile/email', post: changeEmail },
    { path: '/profile/password', post: changePassword },
  ]
}
