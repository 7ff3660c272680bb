import { originOf } from './protected-resource.ts'

/** The part of a route that decides whether page visits sign in. */
export interface SignInRoute {
  readonly host?: string | undefined
  readonly browser?: { readonly signIn: boolean } | undefined
}

/**
 * Where a portal on a host of its own gives page visits back to, by path; for every host. It is not in the table of
 * own paths, as it exists only there.
 */
export const handOverPath = '/api/v1/accounts/sign-in'

/** Whether page visits sign in on another host than that of their page. */
export function handsOver(
  portal: { enabled: boolean; host?: string | undefined },
  routes: readonly SignInRoute[],
) {
  return portal.enabled && portal.host !== undefined && routes.some(({ browser }) => browser?.signIn === true)
}

/**
 * The hosts that people may be led back to, in lower case, with their origins: those that routes with `browser.signIn`
 * name, and that of `publicUrl` for those that name none.
 */
export function signInHostsOf(
  routes: readonly SignInRoute[],
  publicOrigin: string,
): ReadonlyMap<string, string> {
  const origins = routes
    .filter(({ browser }) => browser?.signIn === true)
    .map((route) => originOf(route, publicOrigin))
  return new Map(origins.map((origin) => [new URL(origin).hostname, origin]))
}
