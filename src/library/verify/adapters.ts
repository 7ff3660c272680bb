import { AssertionError } from './assertion-error.ts'
import type { Identity, Verifier } from './verifier.ts'

/** The part of a node:http, Express or Fastify request that is read. */
interface NodeRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

/** What the adapters need of a verifier. */
type RequestVerifier = Pick<Verifier, 'header' | 'verify'>

/** The identity of a node:http request. @throws AssertionError */
export function verifyRequest(verifier: RequestVerifier, { headers }: NodeRequest): Promise<Identity> {
  const value = headers[verifier.header.toLowerCase()]
  // Node joins repeated fields; two assertions never count as one.
  return verifier.verify(Array.isArray(value) ? value.join(', ') : value)
}

/** A request with its identity. */
export interface Identified {
  identity?: Identity
}

declare global {
  namespace Express {
    /** For apps with `@types/express`; without these it is merely a name. */
    interface Request extends Identified {}
  }
}

/** Middleware for Express: sets `request.identity`, or passes an AssertionError on to the app's error handler. */
export function expressIdentity(verifier: RequestVerifier) {
  return function identify(
    request: NodeRequest & Identified,
    _response: unknown,
    next: (error?: unknown) => void,
  ): void {
    verifyRequest(verifier, request).then((identity) => {
      request.identity = identity
      next()
    }, next)
  }
}

/**
 * A hook for Fastify's `onRequest`: sets `request.identity`, or throws an AssertionError, which Fastify answers with
 * 401 or 503.
 */
export function fastifyIdentity(verifier: RequestVerifier) {
  return async function identify(request: NodeRequest & Identified): Promise<void> {
    request.identity = await verifyRequest(verifier, request)
  }
}

/**
 * A handler of Requests, as in Hono, Deno, Bun and workers, that gets the identity; requests without one are answered
 * 401 or 503.
 */
export function fetchIdentity<Rest extends unknown[]>(
  verifier: RequestVerifier,
  handler: (request: Request, identity: Identity, ...rest: Rest) => Response | Promise<Response>,
) {
  return async function handleIdentified(request: Request, ...rest: Rest): Promise<Response> {
    let identity: Identity
    try {
      identity = await verifier.verify(request.headers.get(verifier.header) ?? undefined)
    } catch (error) {
      if (!(error instanceof AssertionError)) throw error
      return Response.json({ code: error.code, detail: error.message }, { status: error.statusCode })
    }
    return handler(request, identity, ...rest)
  }
}
