import type { SignIn } from '../../auth/sign-in.ts'
import { GatehouseError } from '../../errors.ts'
import { wrongField } from './form-refusal.ts'
import type { SignedInVisit } from './visit.ts'

/**
 * Asks once more for the password, as a field of the form.
 * @throws GatehouseError `request-invalid` (field `password`) where it is wrong, `too-many-failures` …
 */
export async function confirmPassword(
  { viewer, visitor, form }: SignedInVisit,
  signIn: SignIn,
): Promise<void> {
  try {
    await signIn.confirm(viewer, form('password'), visitor)
  } catch (error) {
    throw atField(error, 'password', 'The password is wrong.')
  }
}

/** Of a wrong password, the error of the field that it was typed into; any other error is itself. */
export function atField(error: unknown, field: string, message: string): unknown {
  const isWrong = error instanceof GatehouseError && error.code === 'credentials-invalid'
  return isWrong ? wrongField(field, message) : error
}
