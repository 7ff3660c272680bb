import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { PasswordResets } from './password-resets.ts'
import type { SignIn } from './sign-in.ts'

/** What concerns passwords where they are not accepted: neither to sign in nor to confirm, and none can be set. */
export interface WithoutPasswords {
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
      links: { ...signIn.links, check: refuse },
      redeemLink: refuse,
      confirm: refuse,
      changePassword: refuse,
    },
    passwordResets: { ...passwordResets, canSend: false, request: refuse },
  }
}
