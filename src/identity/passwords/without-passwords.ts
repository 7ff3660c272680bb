import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { PasswordResets } from './password-links.ts'
import type { SignIn } from './sign-in.ts'

/**
 * The operations on passwords if they are not accepted: nobody can sign in or confirm with one, and none can be set.
 */
interface WithoutPasswords {
  readonly signIn: SignIn
  readonly passwordResets: PasswordResets
}

/** @param label the name of the provider at which people sign in, for messages */
export function withoutPasswords(
  { signIn, passwordResets }: WithoutPasswords,
  label: string,
): WithoutPasswords {
  async function refuse(): Promise<never> {
    throw new GatehouseError('sign-in-refused', {
      detail: `Passwords are not accepted here: sign in with ${label}.`,
      cause: new Error('portal.oidc.passwords is false'),
    })
  }
  return {
    signIn: {
      ...signIn,
      signIn: refuse,
      signInWithCode: refuse,
      passkeys: undefined,
      signInWithPasskey: refuse,
      links: { ...signIn.links, check: refuse },
      redeemLink: refuse,
      confirm: refuse,
      changePassword: refuse,
    },
    passwordResets: { ...passwordResets, canSend: false, request: refuse },
  }
}
