import { actorOf } from '#accounts/audit-entry-factory.ts'
import { type BlockedSubjects, blockedSubjectData } from '#identity/issuers/subjects.ts'
import { formRefusal } from '../form-refusal.ts'
import type { SignedInContext } from '../page-context.ts'
import { type CreatePages, queryOf } from '../portal-page.ts'
import { type PortalResponse, redirectTo } from '../portal-response.ts'
import { emptyForm, type FormState } from '../views/frame.ts'
import { type SubjectsView, subjectsPage } from '../views/subjects.ts'

const pageSize = 25

/** Users of foreign issuers that are blocked, for Admins. */
export const subjectsPages: CreatePages = ({ subjectsOf }) => {
  function subjectsBy({ viewer, visitor }: SignedInContext): BlockedSubjects {
    return subjectsOf(actorOf(viewer, visitor))
  }

  async function viewOf(context: SignedInContext, state: FormState): Promise<SubjectsView> {
    const cursor = queryOf(context)('cursor') || undefined
    const page = await subjectsBy(context).page({ cursor, limit: pageSize })
    return { ...page, items: page.items.map(blockedSubjectData), isFirstPage: cursor === undefined, state }
  }

  async function show(context: SignedInContext): Promise<PortalResponse> {
    const view = await viewOf(context, emptyForm)
    return context.show((frame) => subjectsPage(frame, view))
  }

  async function block(context: SignedInContext): Promise<PortalResponse> {
    const { form } = context
    const given = { issuer: form('issuer').trim(), subject: form('subject') }
    try {
      const isNew = await subjectsBy(context).block(given)
      return redirectTo('/subjects', isNew ? 'subject-blocked' : 'subject-was-blocked')
    } catch (error) {
      const refusal = formRefusal(error, given)
      const view = await viewOf(context, refusal.state)
      return context.show((frame) => subjectsPage(frame, view), refusal)
    }
  }

  async function unblock(context: SignedInContext): Promise<PortalResponse> {
    const { form } = context
    const given = { issuer: form('issuer'), subject: form('subject') }
    const wasBlocked = await subjectsBy(context).unblock(given)
    return redirectTo('/subjects', wasBlocked ? 'subject-unblocked' : 'subject-not-blocked')
  }

  return [
    { path: '/subjects', get: show },
    { path: '/subjects/block', post: block },
    { path: '/subjects/unblock', post: unblock },
  ]
}
