import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { SignedInContext } from '../page-context.ts'
import type { PortalOidc } from './portal-oidc.ts'

/**
 * Forgets what the browser keeps of the provider. To be called before the session ends.
 * @returns where to go to sign out at the provider too; undefined where the session did not begin there, the provider
 *   has no such page, or cannot be asked: the session here ends all the same
 */
export async function signOutAtProvider(
  oidc: PortalOidc | undefined,
  { request, viewer }: Pick<SignedInContext, 'request' | 'viewer'>,
): Promise<string | undefined> {
  const began = oidc?.sessions.find(request, viewer.session)
  oidc?.sessions.clear(request)
  if (!began) return undefined
  return oidc?.provider.signOutUrl(began.idToken).catch((error: unknown) => {
    if (error instanceof GatehouseError && error.code === 'sign-in-provider-unavailable') return undefined
    throw error
  })
}
