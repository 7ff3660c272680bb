import { isUtf8 } from 'node:buffer'
import { defaultRole, fullName, knownRoles, noPlan, similarRole } from '#accounts/account-input.ts'
import type { Config } from '#config/config.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { PasswordOwner } from '#platform/secrets/common-password.ts'
import { assertGoodPassword, rejectPassword } from '#platform/secrets/passwords.ts'
import type { Account, AccountChanges } from '#store/accounts.ts'
import { isInteractive, openAsker } from '../ask.ts'
import { type Invocation, type Terminal, UsageError } from '../command.ts'
import { readInput } from '../files.ts'
import type { Operator } from '../operator.ts'
import { fieldLines, printToStderr } from '../print.ts'

export const profileOptions = {
  email: { value: 'E', help: 'E-mail address; no two accounts may share one.' },
  'first-name': { value: 'F', help: 'First name.' },
  'last-name': { value: 'L', help: 'Last name.' },
  role: { value: 'R', help: `Role, such as User or Admin; default ${defaultRole}.` },
} as const

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

export const passwordOption = {
  'password-stdin': {
    help: 'Reads the portal password from standard input; on a terminal it is asked for, without echo.',
  },
} as const

/** How much is read: longer than any accepted password. */
const inputBytesMax = 4_096

/**
 * The password of `--password-stdin`: the only line of standard input, without byte order mark and line break;
 * undefined if the option is not given. @param owner undefined = not known yet
 * @throws GatehouseError `request-invalid` for a password that the policy rejects
 */
export async function readPassword(
  { flag, terminal }: Invocation,
  owner?: PasswordOwner,
): Promise<string | undefined> {
  if (!flag('password-stdin')) return undefined
  if (isInteractive(terminal)) return askPassword(terminal, owner)
  const bytes = await readInput(terminal.input ?? process.stdin, inputBytesMax)
  // Editors and shells of Windows begin a file with a byte order mark.
  const password = bytes
    .toString()
    .replace(/^\ufeff/, '')
    .replace(/\r?\n$/, '')
  if (password === '') throw new UsageError('--password-stdin: standard input is empty')
  // Truncated input may end within a character: it is rejected for its length instead.
  if (bytes.length <= inputBytesMax && !isUtf8(bytes)) rejectPassword('must be in UTF-8')
  if (/[\r\n]/.test(password)) rejectPassword('must be one line: no sign-in form accepts a line break')
  if (/\p{Cc}/u.test(password)) rejectPassword('must not have control characters, such as a tab')
  assertGoodPassword(password, owner)
  return password
}

/** Asks twice, as what is typed is not shown. */
async function askPassword(terminal: Terminal, owner?: PasswordOwner): Promise<string> {
  const asker = openAsker(terminal)
  try {
    const password = await asker.hidden('Password for the portal: ')
    assertGoodPassword(password, owner)
    const again = await asker.hidden('The same password again: ')
    if (again !== password) throw new OperatorError('the two passwords differ: nothing was changed')
    return password
  } finally {
    asker.close()
  }
}

/**
 * Sets the password of an account, and revokes its portal sessions.
 * @throws GatehouseError `request-invalid` for a password that the policy rejects for its owner
 */
export async function setPassword(
  { store, passwords, auditEntry }: Operator,
  account: Account,
  password: string,
): Promise<void> {
  assertGoodPassword(password, account)
  const change = {
    password: await passwords.hash(password, { client: 'operator', network: 'operator', isKnown: true }),
    proof: undefined,
    endsSessions: true,
  }
  await store.setPassword(account.id, change, auditEntry('password-set', account))
}
