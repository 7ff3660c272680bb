import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SignedIn } from '../auth/sign-in.ts'
import { randomText } from '../random.ts'

/** The cookies of the portal. They are sent to the portal alone, never to a backend. */
export interface PortalCookie {
  /** Attributes that they share. */
  readonly path: string
  readonly isSecure: boolean
  /** The token of a session that came; undefined where there is none. */
  read(request: FastifyRequest): string | undefined
  set(reply: FastifyReply, signedIn: SignedIn): void
  clear(reply: FastifyReply): void
  /** What the forms of somebody not signed in are bound to; undefined where there is none yet. */
  readFormToken(request: FastifyRequest): string | undefined
  /** Makes one. @returns its token */
  setFormToken(reply: FastifyReply): string
}

export interface PortalCookieOptions {
  readonly path: string
  readonly isSecure: boolean
}

const formTokenLength = 32
const formTokenPattern = /^[0-9A-Za-z]{32}$/

/**
 * HttpOnly, SameSite=Strict, no longer than the session. Below the path of the portal alone, and so
 * `__Secure-` rather than `__Host-`, which would be sent to every backend too.
 */
export function createPortalCookie({ path, isSecure }: PortalCookieOptions): PortalCookie {
  const name = sessionCookieName(isSecure)
  const formName = `${prefixOf(isSecure)}gatehouse-form`
  const attributes = { path, httpOnly: true, secure: isSecure, sameSite: 'strict' } as const
  return {
    path,
    isSecure,
    read: (request) => request.cookies[name] || undefined,
    set: (reply, { token, session }) => {
      const maxAge = Math.max(0, Math.floor((session.expiresAt - session.createdAt) / 1_000))
      reply.setCookie(name, token, { ...attributes, maxAge })
    },
    clear: (reply) => {
      reply.setCookie(name, '', { ...attributes, maxAge: 0, expires: new Date(0) })
    },
    readFormToken: (request) => {
      const token = request.cookies[formName]
      return token !== undefined && formTokenPattern.test(token) ? token : undefined
    },
    setFormToken: (reply) => {
      const token = randomText(formTokenLength)
      reply.setCookie(formName, token, attributes)
      return token
    },
  }
}

/** Name of the cookie that holds the token of a session. */
export function sessionCookieName(isSecure: boolean): string {
  return `${prefixOf(isSecure)}gatehouse-portal`
}

function prefixOf(isSecure: boolean): string {
  return isSecure ? '__Secure-' : ''
}
