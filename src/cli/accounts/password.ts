import { isUtf8 } from 'node:buffer'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { PasswordOwner } from '#platform/secrets/common-password.ts'
import { assertGoodPassword, rejectPassword } from '#platform/secrets/passwords.ts'
import type { Account } from '#store/accounts.ts'
import { type Invocation, type Terminal, UsageError } from '../command.ts'
import { readInput } from '../import/source.ts'
import type { Operator } from '../operator.ts'
import { isInteractive, openAsker } from '../terminal/ask.ts'

export const passwordOption = {
  'password-stdin': {
    help: 'Reads the portal password from standard input; on a terminal it is asked for, without echo.',
  },
} as const

/** How much is read: longer than any accepted password. */
const inputBytesMax = 4_096

/**
 * The password of `--password-stdin`: the only line of standard input, without its line break; undefined if the option
 * is not given. @param owner undefined = not known yet
 * @throws GatehouseError `request-invalid` for a password that the policy rejects
 */
export async function readPassword(
  { flag, terminal }: Invocation,
  owner?: PasswordOwner,
): Promise<string | undefined> {
  if (!flag('password-stdin')) return undefined
  if (isInteractive(terminal)) return askPassword(terminal, owner)
  const bytes = await readInput(terminal.input ?? process.stdin, inputBytesMax)
  const password = bytes.toString().replace(/\r?\n$/, '')
  if (password === '') throw new UsageError('--password-stdin: standard input is empty')
  // Truncated input may end within a character: it is rejected for its length instead.
  if (bytes.length <= inputBytesMax && !isUtf8(bytes)) rejectPassword('must be in UTF-8')
  if (/[\r\n]/.test(password)) rejectPassword('must be one line: no sign-in form accepts a line break')
  assertGoodPassword(password, owner)
  return password
}

/** Asks twice: what is typed is not seen. */
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
