import { actorOf } from '#accounts/audit-log.ts'
import type { SignedInContext } from './page-context.ts'
import type { CreatePages } from './portal-page.ts'
import { type PageResult, redirectTo } from './portal-response.ts'
import { type EventsView, eventsPage } from './views/events-page.ts'

const path = '/events'

/** The receivers of events, for Admins. */
export const eventPages: CreatePages = ({ receiversOf }) => {
  const receiversBy = ({ viewer, visitor }: SignedInContext) => receiversOf(actorOf(viewer, visitor))

  async function show(context: SignedInContext, tested?: EventsView['tested']): Promise<PageResult> {
    const receivers = await receiversBy(context).list()
    return context.show((frame) => eventsPage(frame, { receivers, tested }))
  }

  return [
    { path, get: (context) => show(context) },
    {
      path: '/events/retry',
      post: async (context) =>
        redirectTo(path, retryNotices[await receiversBy(context).retry(context.form('receiver'))]),
    },
    {
      path: '/events/test',
      post: async (context) => {
        const tested = await receiversBy(context).test(context.form('receiver'))
        return tested ? show(context, tested) : redirectTo(path, 'receiver-gone')
      },
    },
  ]
}

const retryNotices = {
  retried: 'events-retried',
  new: 'receiver-new',
  unknown: 'receiver-gone',
} as const
