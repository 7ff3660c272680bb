import type { SignIn } from '../../auth/sign-in.ts'
import { GatehouseError } from '../../errors.ts'
import { wrongField } from './refusal.ts'
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
    if (error instanceof GatehouseError && error.code === 'credentials-invalid') {
      throw wrongField('password', 'The password is wrong.')
    }
    throw error
  }
}
