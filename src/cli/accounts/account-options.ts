import { defaultRole, fullName, knownRoles, noPlan, similarRole } from '#accounts/account-input.ts'
import type { Config } from '#config/config.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { Account, AccountChanges } from '#store/accounts.ts'
import { type Invocation, UsageError } from '../command.ts'
import type { Operator } from '../operator.ts'
import { fieldLines, printToStderr } from '../print.ts'

export const profileOptions = {
  email: { value: 'E', help: 'E-mail address; no two accounts may share one.' },
  'first-name': { value: 'F', help: 'First name.' },
  'last-name': { value: 'L', help: 'Last name.' },
  role: { value: 'R', help: `Role, such as User or Admin; default ${defaultRole}.` },
} as const

/** The changes that the options name. */
export function readChanges(invocation: Invocation): AccountChanges {
  const given = {
    isVerified: readBoolean(invocation, 'verified'),
    isDisabled: readBoolean(invocation, 'disabled'),
  }
  return { ...readProfile(invocation), ...withoutAbsent(given) }
}

/** What the options of a new account and of changes have in common; `plan: undefined` = none. */
export function readProfile(
  invocation: Invocation,
): Pick<AccountChanges, 'email' | 'firstName' | 'lastName' | 'role' | 'plan'> {
  const given = {
    email: invocation.text('email'),
    firstName: invocation.text('first-name'),
    lastName: invocation.text('last-name'),
    role: invocation.text('role'),
  }
  const plan = invocation.text('plan')
  return {
    ...withoutAbsent(given),
    ...(plan !== undefined && { plan: plan === noPlan ? undefined : plan }),
  }
}

function withoutAbsent(given: Readonly<Record<string, string | boolean | undefined>>): AccountChanges {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Warns about a role that differs from one in the routes only in case. */
export function warnOfSimilarRole(
  { terminal }: Invocation,
  role: string | undefined,
  routes: Config['routes'],
): void {
  const similar = role === undefined ? undefined : similarRole(role, knownRoles(routes))
  if (similar === undefined) return
  printToStderr(terminal, `warning: role "${role}" is not "${similar}": roles are case-sensitive`)
}

function readBoolean(invocation: Invocation, option: string): boolean | undefined {
  const text = invocation.text(option)
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw new UsageError(`--${option} must be true or false`)
  return text === 'true'
}

/** An account as text. */
export function accountLines(account: Account): string[] {
  const { id, email, role, isVerified, isDisabled, plan, createdAt } = account
  return fieldLines({
    ID: id,
    'E-mail': email,
    Name: fullName(account) || '-',
    Role: role,
    Verified: isVerified ? 'yes' : 'no',
    Disabled: isDisabled ? 'yes' : 'no',
    Plan: plan ?? '-',
    Created: new Date(createdAt).toISOString(),
  })
}

export const mailLinkOption = {
  'mail-link': { help: 'Mails the set-up link to the owner instead of printing it.' },
} as const

/** @throws OperatorError where no set-up link can be mailed */
export function assertCanMail({ setupLinks }: Pick<Operator, 'setupLinks'>): void {
  if (setupLinks.canMail) return
  throw new OperatorError('set-up links cannot be mailed', {
    hint: 'That needs mail in the config, and a portal that accepts passwords.',
  })
}
