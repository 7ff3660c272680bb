import type { PasswordOwner } from '../accounts/common-password.ts'
import { assertGoodPassword } from '../accounts/passwords.ts'
import type { Account } from '../store/store.ts'
import { type Invocation, UsageError } from './command.ts'
import type { Operator } from './operator.ts'

export const passwordOption = {
  'password-stdin': { type: 'boolean', help: 'Reads a password for the portal from standard input.' },
} as const

/** So much is read: more than any password has. */
const inputCharactersMax = 4_096

/**
 * The password of `--password-stdin`: all of standard input, less the end of its line; undefined where it is not
 * asked for. @param owner undefined = not known yet
 * @throws GatehouseError `request-invalid` for one that nobody should have
 */
export async function readPassword(
  { flag, terminal }: Invocation,
  owner?: PasswordOwner,
): Promise<string | undefined> {
  if (!flag('password-stdin')) return undefined
  let text = ''
  for await (const chunk of terminal.input ?? process.stdin) {
    text += String(chunk)
    if (text.length > inputCharactersMax) break
  }
  const password = text.replace(/\r?\n$/, '')
  if (password === '') throw new UsageError('--password-stdin: standard input is empty')
  assertGoodPassword(password, owner)
  return password
}

/**
 * Gives an account a password; whoever is signed in to the portal with it is signed out.
 * @throws GatehouseError `request-invalid` for one that its owner should not have
 */
export async function setPassword(
  { store, passwords, entry }: Operator,
  account: Account,
  password: string,
): Promise<void> {
  assertGoodPassword(password, account)
  const change = {
    password: await passwords.hash(password, 'operator'),
    proof: undefined,
    endsSessions: true,
  }
  await store.setPassword(account.id, change, entry('password-set', account))
}
