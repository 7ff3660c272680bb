import { recordFailure } from '#gateway/gate/outcome.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { formRefusal } from '../form-refusal.ts'
import type { PageContext } from '../page-context.ts'
import type { CreatePages } from '../portal-page.ts'
import type { PortalResponse } from '../portal-response.ts'
import { emptyForm } from '../views/frame.ts'
import { forgottenPage, linkRequestedPage } from '../views/links.ts'

/** The page for a forgotten password: it answers every e-mail alike. */
export const forgottenPages: CreatePages = ({ passwordResets }) => {
  const { canSend, linkLifetimeMs } = passwordResets

  async function requestLink(context: PageContext): Promise<PortalResponse> {
    const { form, visitor, request } = context
    const email = form('email').trim()
    try {
      await passwordResets.request(email, visitor)
    } catch (error) {
      if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
      const refusal = formRefusal(error, { email })
      return context.show((frame) => forgottenPage(frame, refusal.state, passwordResets), refusal)
    }
    return context.show((frame) => linkRequestedPage(frame, { email, linkLifetimeMs }))
  }

  return [
    {
      path: '/forgot',
      get: async (context) =>
        context.show((frame) => forgottenPage(frame, emptyForm, { canSend, linkLifetimeMs })),
      post: requestLink,
    },
  ]
}
