import { accountData, createdData } from '../accounts/account-data.ts'
import { defaultRole } from '../accounts/account-input.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { knownRoles, similarRole } from '../accounts/roles.ts'
import type { Config } from '../config/config.ts'
import { OperatorError } from '../errors/operator-error.ts'
import { assertGoodPassword } from '../secrets/passwords.ts'
import type { Account } from '../store/account.ts'
import type { AccountChanges } from '../store/accounts.ts'
import { accountLines } from './account-view.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { keepUnconfirmedKeys } from './keep-unconfirmed-keys.ts'
import { type Operator, withOperator, withSealingOperator } from './operator.ts'
import { passwordOption, readPassword, setPassword } from './password.ts'
import { fieldLines, printData, printToStderr, table } from './print.ts'

const pageSize = 500

const profileOptions = {
  email: { type: 'string', value: 'E', help: 'E-mail address; no two accounts may share one.' },
  'first-name': { type: 'string', value: 'F', help: 'First name.' },
  'last-name': { type: 'string', value: 'L', help: 'Last name.' },
  role: { type: 'string', value: 'R', help: `Role, such as User or Admin; default ${defaultRole}.` },
} as const

const create: Command = {
  name: 'accounts create',
  operands: [],
  summary: 'Makes an account and prints its keys.',
  options: {
    ...profileOptions,
    verified: { type: 'boolean', help: 'Marks the e-mail as verified.' },
    ...passwordOption,
  },
  printsData: true,
  run: async (invocation) => {
    const email = invocation.text('email')
    if (email === undefined) throw new UsageError('--email is missing')
    const input = {
      email,
      firstName: invocation.text('first-name') ?? '',
      lastName: invocation.text('last-name') ?? '',
      role: invocation.text('role') ?? defaultRole,
      isVerified: invocation.flag('verified'),
    }
    const password = await readPassword(invocation, input)
    const {
      created,
      doubt: unconfirmed,
      wayIn: portalSetup,
      routes,
    } = await withSealingOperator(invocation.config, async (operator) => {
      const { result: created, unconfirmed } = await keepUnconfirmedKeys(operator.accounts.create(input))
      const portalSetup = unconfirmed ? {} : await setUpPortal(operator, created.account, password)
      return { created, doubt: unconfirmed, wayIn: portalSetup, routes: operator.config.routes }
    })
    const { setupUrl, failure = unconfirmed } = portalSetup
    printData(invocation, createdData(created, setupUrl), [
      unconfirmed
        ? 'The account and its keys, valid only if the change lasts:'
        : 'The account has been made. Keep its keys:',
      ...accountLines(created.account),
      ...fieldLines({ 'Secret key': created.secretKey, 'API key': created.apiKey }),
      ...(setupUrl === undefined
        ? []
        : ['To set a password for the portal, within 15 minutes:', `  ${setupUrl}`]),
    ])
    warnOfSimilarRole(invocation, input.role, routes)
    if (failure) throw failure
    return 0
  },
}

interface PortalSetup {
  readonly setupUrl?: string
  /** Why the way in could not be made. */
  readonly failure?: unknown
}

/** Makes the way into the portal. If that fails the keys are still printed: they could not be shown again. */
async function setUpPortal(operator: Operator, account: Account, password?: string): Promise<PortalSetup> {
  try {
    if (password !== undefined) await setPassword(operator, account, password)
    else if (operator.config.portal.enabled) return { setupUrl: await setupUrlOf(operator, account) }
    return {}
  } catch (failure) {
    return { failure }
  }
}

const list: Command = {
  name: 'accounts list',
  operands: [],
  summary: 'Lists all accounts.',
  printsData: true,
  run: async (invocation) => {
    const all = await withOperator(invocation.config, ({ accounts }) => listAll(accounts))
    printData(invocation, all.map(accountData), () => accountsTable(all))
    return 0
  },
}

const show: Command = {
  name: 'accounts show',
  operands: ['ID|EMAIL'],
  summary: 'Shows an account.',
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const account = await withOperator(invocation.config, ({ accounts }) => accounts.find(who))
    printData(invocation, accountData(account), accountLines(account))
    return 0
  },
}

const update: Command = {
  name: 'accounts update',
  operands: ['ID|EMAIL'],
  summary: 'Changes an account. A new role ends its access tokens, disabling ends its sessions.',
  options: {
    ...profileOptions,
    role: { type: 'string', value: 'R', help: 'Role, such as User or Admin.' },
    verified: { type: 'string', value: 'true|false', help: 'Whether the e-mail is verified.' },
    disabled: { type: 'string', value: 'true|false', help: 'Whether the account is disabled.' },
    ...passwordOption,
  },
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const changes = readChanges(invocation)
    const password = await readPassword(invocation)
    if (Object.keys(changes).length === 0 && password === undefined) {
      throw new UsageError('nothing to change: name at least one option')
    }
    const { account, routes } = await withOperator(invocation.config, async (operator) => {
      const found = await operator.accounts.find(who)
      // All that may be refused comes first, and the password last: a refused command has changed nothing.
      if (password !== undefined) assertGoodPassword(password, { ...found, ...changes })
      const isChanged = Object.keys(changes).length > 0
      const account = isChanged ? await operator.accounts.update(found.id, changes) : found
      if (password !== undefined) await setPassword(operator, account, password)
      return { account, routes: operator.config.routes }
    })
    printData(invocation, accountData(account), ['The account has been changed:', ...accountLines(account)])
    warnOfSimilarRole(invocation, changes.role, routes)
    return 0
  },
}

const setupLink: Command = {
  name: 'accounts setup-link',
  operands: ['ID|EMAIL'],
  summary: 'Makes a link for setting a portal password; it works once, within 15 minutes.',
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { url, expiresAt } = await withOperator(invocation.config, ({ config, setupLinks }) => {
      if (config.portal.enabled) return setupLinks.create(who)
      throw new OperatorError('there is no portal', { hint: 'See portal.enabled in the config.' })
    })
    const data = { setupUrl: url, expiresAt: new Date(expiresAt).toISOString() }
    printData(invocation, data, [url, 'It works once, within 15 minutes; earlier links no longer work.'])
    return 0
  },
}

const remove: Command = {
  name: 'accounts delete',
  operands: ['ID|EMAIL'],
  summary: 'Removes an account; its keys, tokens and sessions end.',
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const account = await withOperator(invocation.config, ({ accounts }) => accounts.remove(who))
    printData(invocation, { id: account.id }, [
      `The account ${account.id} (${account.email}) has been removed.`,
    ])
    return 0
  },
}

function accountsTable(accounts: readonly Account[]): readonly string[] {
  const rows = accounts.map(({ id, email, role, isVerified, isDisabled }) => [
    id,
    email,
    role,
    isVerified ? 'yes' : 'no',
    isDisabled ? 'yes' : 'no',
  ])
  const whenEmpty = 'There are no accounts yet. Make one with: gatehouse accounts create --email E'
  return table(['ID', 'E-MAIL', 'ROLE', 'VERIFIED', 'DISABLED'], rows, whenEmpty)
}

async function setupUrlOf({ setupLinks }: Operator, { id }: Account): Promise<string> {
  return (await setupLinks.create(id)).url
}

async function listAll(accounts: Accounts): Promise<Account[]> {
  const all: Account[] = []
  for (;;) {
    const page = await accounts.list({ after: all.at(-1), limit: pageSize })
    all.push(...page)
    if (page.length < pageSize) return all
  }
}

function readChanges(invocation: Invocation): AccountChanges {
  const given = {
    email: invocation.text('email'),
    firstName: invocation.text('first-name'),
    lastName: invocation.text('last-name'),
    role: invocation.text('role'),
    isVerified: readBoolean(invocation, 'verified'),
    isDisabled: readBoolean(invocation, 'disabled'),
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Says so where a role opens nothing, as routes name it in another case. */
function warnOfSimilarRole(
  { terminal }: Invocation,
  role: string | undefined,
  routes: Config['routes'],
): void {
  const similar = role === undefined ? undefined : similarRole(role, knownRoles(routes))
  if (similar === undefined) return
  printToStderr(
    terminal,
    `warning: the role "${role}" is not "${similar}": roles are compared with their case`,
  )
}

function readBoolean(invocation: Invocation, option: string): boolean | undefined {
  const text = invocation.text(option)
  if (text === undefined) return undefined
  if (text !== 'true' && text !== 'false') throw new UsageError(`--${option} takes true or false`)
  return text === 'true'
}

export const accountCommands: readonly Command[] = [create, list, show, update, setupLink, remove]
