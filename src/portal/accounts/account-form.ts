import { noPlan, similarRole } from '#accounts/account-input.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Form } from '../forms/body.ts'
import type { Texts } from '../texts/texts.ts'

/**
 * Rejects a role that differs only in case from one that routes name: it would silently match none of them.
 * @throws GatehouseError `request-invalid`
 */
export function assertKnownCase(
  role: string,
  known: readonly string[],
  texts: Pick<Texts['accounts'], 'wrongCase'>,
): void {
  const similar = similarRole(role, known)
  if (similar === undefined) return
  throw invalidField('role', texts.wrongCase(similar))
}

/** The plan that a form gives to an account: undefined = none. A form without the field changes nothing. */
export function planIn({ plan }: { readonly plan: string }, before?: string): string | undefined {
  if (plan === '') return before
  return plan === noPlan ? undefined : plan
}

/** The fields of an account form, as submitted. */
export function profileOf(form: Form) {
  const text = (name: string) => form(name).trim()
  return {
    email: text('email'),
    firstName: text('firstName'),
    lastName: text('lastName'),
    role: text('role'),
    plan: text('plan'),
  }
}
