import type { SignIn } from '../auth/sign-in.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { recordFailure } from '../http/outcome.ts'
import { invalidField } from './form-refusal.ts'
import type { SignedInContext } from './page-context.ts'

/**
 * Checks the password that the form asks for again.
 * @throws GatehouseError `request-invalid` (field `password`) if it is wrong, `too-many-failures` … …
 */
export async function confirmPassword(
  { viewer, visitor, form, request }: SignedInContext,
  signIn: SignIn,
): Promise<void> {
  try {
    await signIn.confirm(viewer, form('password'), visitor)
  } catch (error) {
    if (error instanceof GatehouseError) recordFailure(request.arrival.outcome, error)
    throw asFieldError(error, 'password', 'The password is wrong.')
  }
}

/** Turns a wrong password into an error of its field; any other error is returned as it is. */
export function asFieldError(error: unknown, field: string, message: string): unknown {
  const isWrong = error instanceof GatehouseError && error.code === 'credentials-invalid'
  return isWrong ? invalidField(field, message) : error
}
