import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SignedIn } from '../auth/sign-in.ts'

/** The cookie that holds a portal session. It is sent to the portal alone, never to a backend. */
export interface PortalCookie {
  /** The token that came; undefined where there is none. */
  read(request: FastifyRequest): string | undefined
  set(reply: FastifyReply, signedIn: SignedIn): void
  clear(reply: FastifyReply): void
}

export interface PortalCookieOptions {
  readonly path: string
  readonly isSecure: boolean
}

/**
 * HttpOnly, SameSite=Lax (a link from a mail finds its reader signed in; what changes something is a POST, and
 * checked by csrf.ts), no longer than the session. Below the path of the portal alone, and so `__Secure-`
 * rather than `__Host-`, which would be sent to every backend too.
 */
export function createPortalCookie({ path, isSecure }: PortalCookieOptions): PortalCookie {
  const name = isSecure ? '__Secure-gatehouse-portal' : 'gatehouse-portal'
  const attributes = { path, httpOnly: true, secure: isSecure, sameSite: 'lax' } as const
  return {
    read: (request) => request.cookies[name] || undefined,
    set: (reply, { token, session }) => {
      const maxAge = Math.max(0, Math.floor((session.expiresAt - session.createdAt) / 1_000))
      reply.setCookie(name, token, { ...attributes, maxAge })
    },
    clear: (reply) => {
      reply.setCookie(name, '', { ...attributes, maxAge: 0, expires: new Date(0) })
    },
  }
}
