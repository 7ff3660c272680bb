import { recordFailure } from '#gateway/arrival/outcome.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { asFieldError } from './forms/refusal.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import { linkedProviders } from './portal-oidc.ts'
import { labelsOf } from './views/frame.ts'

/**
 * Checks the password that the form asks for again, unless the viewer has just authenticated again at the
 * provider, or with a passkey.
 * @throws GatehouseError `request-invalid` (field `password`) if it is wrong, `too-many-failures`
 */
export async function confirmPassword(
  { viewer, visitor, form, request, texts }: SignedInContext,
  { signIn, oidc, passkeys }: Pick<PortalOptions, 'signIn' | 'oidc' | 'passkeys'>,
): Promise<void> {
  if (passkeys?.isConfirmed(request, viewer)) return
  if (oidc?.sessions.isConfirmed(request, viewer.session)) return
  const linked = oidc ? linkedProviders(oidc, viewer) : []
  if (oidc && linked.length > 0 && (viewer.account.portal.password === undefined || !oidc.acceptsPasswords))
    throw invalidField('password', texts.errors.firstConfirm(labelsOf(linked, texts.form.or)))
  try {
    await signIn.confirm(viewer, form('password'), visitor)
  } catch (error) {
    if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
    throw asFieldError(error, 'password', texts.errors.wrongPassword)
  }
}
