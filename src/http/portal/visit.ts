import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { adminRole } from '../../accounts/account-input.ts'
import type { Acts } from '../../accounts/acts.ts'
import { fullName } from '../../accounts/full-name.ts'
import { actorOf } from '../../auth/actor.ts'
import type { Viewer } from '../../auth/sign-in.ts'
import type { Html } from '../../pages/html.ts'
import type { Frame } from '../../portal/frame.ts'
import type { Visitor } from '../../store/visitor.ts'
import { visitorOf } from '../visitor.ts'
import type { PageAnswer } from './answer.ts'
import type { PortalAssets } from './assets.ts'
import { csrfTokenOf } from './csrf.ts'
import { type Files, type Form, filesOf, formOf } from './form-body.ts'
import type { FormRefusal } from './form-refusal.ts'
import type { Notices } from './notices.ts'
import type { PortalOptions } from './options.ts'

/** One request to the portal, and who makes it. */
export interface Visit {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly visitor: Visitor
  readonly viewer: Viewer | undefined
  readonly form: Form
  readonly file: Files
  /** Makes the answer of a page; only once, as it takes the notice that was left. Status: 200. */
  show(write: (frame: Frame) => Html, refusal?: Pick<FormRefusal, 'status' | 'headers'>): PageAnswer
}

/** A visit of somebody who is signed in. */
export interface SignedInVisit extends Visit {
  readonly viewer: Viewer
  /** The acts of the viewer, under their name. */
  readonly acts: Acts
}

export interface VisitParts {
  readonly options: PortalOptions
  readonly assets: PortalAssets
  readonly notices: Notices
}

const nonceBytes = 16

export function createVisit(
  { options, assets, notices }: VisitParts,
  { request, reply, viewer, home }: Pick<Visit, 'request' | 'reply' | 'viewer'> & Pick<Frame, 'home'>,
): Visit {
  const { cookie, clock, path, roles } = options

  /** The CSRF token of the session or, without one, of the form cookie. */
  function csrf(): string {
    const token = viewer ? cookie.read(request) : cookie.readFormToken(request)
    return csrfTokenOf(token ?? cookie.setFormToken(reply))
  }

  function frame(status: number): Frame {
    return {
      base: path,
      assets,
      nonce: randomBytes(nonceBytes).toString('base64'),
      now: clock(),
      csrf: csrf(),
      viewer: viewer && {
        id: viewer.account.id,
        email: viewer.account.email,
        name: fullName(viewer.account),
        isAdmin: viewer.account.role === adminRole,
      },
      roles,
      // If the page cannot be shown now the notice is left for later.
      notice: status < 500 ? notices.take(request, reply) : undefined,
      home,
    }
  }

  function show(write: (frame: Frame) => Html, { status = 200, headers = {} } = {}): PageAnswer {
    const made = frame(status)
    return { kind: 'page', nonce: made.nonce, html: write(made), status, headers }
  }

  const own = { visitor: visitorOf(request), form: formOf(request), file: filesOf(request) }
  return { request, reply, viewer, ...own, show }
}

export function signedIn(visit: Visit, viewer: Viewer, options: PortalOptions): SignedInVisit {
  return { ...visit, viewer, acts: options.actsOf(actorOf(viewer, visit.visitor)) }
}
