import type { SignIn } from '../../auth/sign-in.ts'
import { GatehouseError } from '../../errors.ts'
import { arrivalOf } from '../arrival.ts'
import { noteFailure } from '../problem.ts'
import { wrongField } from './form-refusal.ts'
import type { SignedInVisit } from './visit.ts'

/**
 * Checks the password that was asked for again in the form.
 * @throws GatehouseError `request-invalid` (field `password`) if it is wrong, `too-many-failures` … …
 */
export async function confirmPassword(
  { viewer, visitor, form, request }: SignedInVisit,
  signIn: SignIn,
): Promise<void> {
  try {
    await signIn.confirm(viewer, form('password'), visitor)
  } catch (error) {
    if (error instanceof GatehouseError) noteFailure(arrivalOf(request.raw), error)
    throw atField(error, 'password', 'The password is wrong.')
  }
}

/** Turns the error of a wrong password into that of its field; any other error is left as it is. */
export function atField(error: unknown, field: string, message: string): unknown {
  const isWrong = error instanceof GatehouseError && error.code === 'credentials-invalid'
  return isWrong ? wrongField(field, message) : error
}
