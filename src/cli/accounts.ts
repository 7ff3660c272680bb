import { accountData, createdData } from '../accounts/account-data.ts'
import { defaultRole, knownRoles, noPlan, similarRole } from '../accounts/account-input.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Config } from '../config/config.ts'
import { OperatorError } from '../errors/operator-error.ts'
import { assertGoodPassword } from '../secrets/passwords.ts'
import type { Account } from '../store/account.ts'
import type { AccountChanges } from '../store/accounts.ts'
import { accountLines } from './account-view.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { keepUnconfirmedKeys, type Operator, withOperator, withSealingOperator } from './operator.ts'
import { passwordOption, readPassword, setPassword } from './password.ts'
import { fieldLines, printData, printToStderr, table } from './print.ts'
import { warnOfUnknownPlans } from './warn-of-unknown-plans.ts'

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
  summary: 'Creates an account and prints its keys.',
  options: {
    ...profileOptions,
    verified: { type: 'boolean', help: 'Marks the e-mail as verified.' },
    plan: { type: 'string', value: 'NAME|none', help: 'Plan of the config; default none.' },
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
      ...readPlan(invocation),
    }
    const password = await readPassword(invocation, input)
    const work = withSealingOperator(invocation.config, async (operator) => {
      const { result: created, unconfirmed } = await keepUnconfirmedKeys(operator.accounts.create(input))
      const portalSetup = unconfirmed ? {} : await setUpPortal(operator, created.account, password)
      return { created, unconfirmed, portalSetup, routes: operator.config.routes }
    })
    const { created, unconfirmed, portalSetup, routes } = await work
    const { setupUrl, failure = unconfirmed } = portalSetup
    printData(invocation, createdData(created, setupUrl), [
      unconfirmed
        ? 'Account and keys (unconfirmed: valid only if the change was saved):'
        : 'Account created. Save these keys:',
      ...accountLines(created.account),
      ...fieldLines({ 'Secret key': created.secretKey, 'API key': created.apiKey }),
      ...(setupUrl === undefined
        ? []
        : ['Set a portal password with this link (valid for 15 minutes):', `  ${setupUrl}`]),
    ])
    warnOfSimilarRole(invocation, input.role, routes)
    if (failure) throw failure
    return 0
  },
}

interface PortalSetup {
  readonly setupUrl?: string
  /** Why the sign-in could not be set up. */
  readonly failure?: unknown
}

/** Sets up portal sign-in. If that fails the keys are still printed: they could not be shown again. */
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
    const { all, planNames } = await withOperator(invocation.config, async ({ accounts }) => {
      return { all: await listAll(accounts), planNames: accounts.planNames }
    })
    printData(invocation, all.map(accountData), () => accountsTable(all))
    warnOfUnknownPlans(invocation, all, planNames)
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
    const { account, planNames } = await withOperator(invocation.config, async ({ accounts }) => {
      return { account: await accounts.find(who), planNames: accounts.planNames }
    })
    printData(invocation, accountData(account), accountLines(account))
    warnOfUnknownPlans(invocation, [account], planNames)
    return 0
  },
}

const update: Command = {
  name: 'accounts update',
  operands: ['ID|EMAIL'],
  summary: 'Updates an account. A role change revokes access tokens; disabling revokes sessions.',
  options: {
    ...profileOptions,
    role: { type: 'string', value: 'R', help: 'Role, such as User or Admin.' },
    verified: { type: 'string', value: 'true|false', help: 'Whether the e-mail is verified.' },
    disabled: { type: 'string', value: 'true|false', help: 'Whether the account is disabled.' },
    plan: { type: 'string', value: 'NAME|none', help: 'Plan of the config, or none.' },
    ...passwordOption,
  },
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const changes = readChanges(invocation)
    const password = await readPassword(invocation)
    if (Object.keys(changes).length === 0 && password === undefined) {
      throw new UsageError('nothing to update: give at least one option')
    }
    const { account, routes } = await withOperator(invocation.config, async (operator) => {
      const found = await operator.accounts.find(who)
      // All checks come first, and the password last: a rejected command has changed nothing.
      if (password !== undefined) assertGoodPassword(password, { ...found, ...changes })
      const isChanged = Object.keys(changes).length > 0
      const account = isChanged ? await operator.accounts.update(found.id, changes) : found
      if (password !== undefined) await setPassword(operator, account, password)
      return { account, routes: operator.config.routes }
    })
    printData(invocation, accountData(account), ['Account updated:', ...accountLines(account)])
    warnOfSimilarRole(invocation, changes.role, routes)
    return 0
  },
}

const setupLink: Command = {
  name: 'accounts setup-link',
  operands: ['ID|EMAIL'],
  summary: 'Creates a one-time link for setting a portal password, valid for 15 minutes.',
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { url, expiresAt } = await withOperator(invocation.config, ({ config, setupLinks }) => {
      if (config.portal.enabled) return setupLinks.create(who)
      throw new OperatorError('the portal is disabled', { hint: 'See portal.enabled in the config.' })
    })
    const data = { setupUrl: url, expiresAt: new Date(expiresAt).toISOString() }
    printData(invocation, data, [url, 'One-time link, valid for 15 minutes; earlier links are revoked.'])
    return 0
  },
}

const remove: Command = {
  name: 'accounts delete',
  operands: ['ID|EMAIL'],
  summary: 'Deletes an account and revokes its keys, tokens and sessions.',
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const account = await withOperator(invocation.config, ({ accounts }) => accounts.remove(who))
    printData(invocation, { id: account.id }, [`Account ${account.id} (${account.email}) deleted.`])
    return 0
  },
}

function accountsTable(accounts: readonly Account[]): readonly string[] {
  const rows = accounts.map(({ id, email, role, isVerified, isDisabled, plan }) => [
    id,
    email,
    role,
    isVerified ? 'yes' : 'no',
    isDisabled ? 'yes' : 'no',
    plan ?? '-',
  ])
  const whenEmpty = 'No accounts yet. Create one with: gatehouse accounts create --email E'
  return table(['ID', 'E-MAIL', 'ROLE', 'VERIFIED', 'DISABLED', 'PLAN'], rows, whenEmpty)
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
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { ...changes, ...readPlan(invocation) }
}

/** The plan that is given: undefined = none; {} = not given. */
function readPlan(invocation: Invocation): Pick<AccountChanges, 'plan'> {
  const plan = invocation.text('plan')
  return plan === undefined ? {} : { plan: plan === noPlan ? undefined : plan }
}

/** Warns about a role that differs from one in the routes only in case. */
function warnOfSimilarRole(
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

export const accountCommands: readonly Command[] = [create, list, show, update, setupLink, remove]
