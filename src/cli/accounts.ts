import { accountData, createdData } from '#accounts/account-data.ts'
import { defaultRole } from '#accounts/account-input.ts'
import type { Config } from '#config/config.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { assertGoodPassword } from '#platform/secrets/passwords.ts'
import { spanText } from '#platform/time.ts'
import type { Account } from '#store/account.ts'
import { listAccountsCommand, warnOfUnknownPlans } from './accounts/list.ts'
import {
  accountLines,
  assertCanMail,
  mailLinkOption,
  profileOptions,
  readChanges,
  readPlan,
  warnOfSimilarRole,
} from './accounts/options.ts'
import { passwordOption, readPassword, setPassword } from './accounts/password.ts'
import { resetSecondFactorCommand, unlinkAccount } from './accounts/reset-second-factor.ts'
import { type Command, UsageError } from './command.ts'
import { keepUnconfirmedKeys, type Operator, withOperator, withSealingOperator } from './operator.ts'
import { fieldLines, printData } from './print.ts'
import { confirm, yesOption } from './terminal/ask.ts'

const create: Command = {
  name: 'accounts create',
  operands: [],
  summary: 'Creates an account and prints its keys.',
  examples: [
    'gatehouse accounts create --email ada@example.com --role Admin --verified',
    'gatehouse accounts create --email bob@example.com --password-stdin < password.txt',
  ],
  options: {
    ...profileOptions,
    verified: { type: 'boolean', help: 'Marks the e-mail as verified.' },
    plan: { type: 'string', value: 'NAME|none', help: 'Plan of the config; default none.' },
    ...passwordOption,
    ...mailLinkOption,
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
    const isMailed = invocation.flag('mail-link')
    if (isMailed && password !== undefined)
      throw new UsageError('--mail-link and --password-stdin exclude each other')
    const work = withSealingOperator(invocation.config, async (operator) => {
      if (isMailed) assertCanMail(operator)
      const { result: created, unconfirmed } = await keepUnconfirmedKeys(operator.accounts.create(input))
      const portalSetup = unconfirmed
        ? {}
        : await setUpPortal(operator, created.account, { password, isMailed })
      return { created, unconfirmed, portalSetup, config: operator.config }
    })
    const { created, unconfirmed, portalSetup, config } = await work
    const { setupUrl, failure = unconfirmed } = portalSetup
    printData(invocation, createdData(created, setupUrl), [
      unconfirmed
        ? 'Account and keys (unconfirmed: valid only if the change was saved):'
        : 'Account created. Save these keys:',
      ...accountLines(created.account),
      ...fieldLines({ 'Secret key': created.secretKey, 'API key': created.apiKey }),
      ...(setupUrl === undefined
        ? []
        : [`Set a portal password with this link (valid for ${lifetimeText(config)}):`, `  ${setupUrl}`]),
    ])
    warnOfSimilarRole(invocation, input.role, config.routes)
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
async function setUpPortal(
  operator: Operator,
  account: Account,
  { password, isMailed }: { readonly password: string | undefined; readonly isMailed: boolean },
): Promise<PortalSetup> {
  try {
    if (isMailed) await operator.setupLinks.mail(account.id)
    else if (password !== undefined) await setPassword(operator, account, password)
    else if (operator.config.portal.acceptsPasswords) return { setupUrl: await setupUrlOf(operator, account) }
    return {}
  } catch (failure) {
    return { failure }
  }
}

const show: Command = {
  name: 'accounts show',
  operands: ['ID|EMAIL'],
  summary: 'Shows an account.',
  examples: ['gatehouse accounts show ada@example.com'],
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
  examples: [
    'gatehouse accounts update ada@example.com --role User',
    'gatehouse accounts update ada@example.com --disabled true',
  ],
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
  summary: 'Creates a one-time link that sets a portal password; earlier links are revoked.',
  examples: [
    'gatehouse accounts setup-link ada@example.com',
    'gatehouse accounts setup-link ada@example.com --mail-link',
  ],
  options: mailLinkOption,
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { made, account, lifetime } = await withOperator(invocation.config, async (operator) => {
      const { config, setupLinks, accounts } = operator
      assertAcceptsPasswords(config)
      const common = { account: await accounts.find(who), lifetime: lifetimeText(config) }
      if (!invocation.flag('mail-link')) return { ...common, made: await setupLinks.create(who) }
      assertCanMail(operator)
      await setupLinks.mail(common.account.id)
      return { ...common, made: undefined }
    })
    if (!made) {
      const { id, email } = account
      printData(invocation, { id, mailedTo: email }, [
        `A link, valid for ${lifetime}, was mailed to ${email}.`,
      ])
      return 0
    }
    const data = { setupUrl: made.url, expiresAt: new Date(made.expiresAt).toISOString() }
    printData(invocation, data, [
      made.url,
      `One-time link, valid for ${lifetime}; earlier links are revoked.`,
    ])
    return 0
  },
}

/** @throws OperatorError where nobody could sign in with a password */
function assertAcceptsPasswords({ portal: { enabled, acceptsPasswords } }: Operator['config']): void {
  if (acceptsPasswords) return
  throw enabled
    ? new OperatorError('the portal accepts no passwords', {
        hint: 'See portal.oidc.passwords in the config.',
      })
    : new OperatorError('the portal is disabled', { hint: 'See portal.enabled in the config.' })
}

const remove: Command = {
  name: 'accounts delete',
  operands: ['ID|EMAIL'],
  summary: 'Deletes an account and revokes its keys, tokens and sessions.',
  examples: ['gatehouse accounts delete ada@example.com --yes'],
  options: yesOption,
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const account = await withOperator(invocation.config, async ({ accounts }) => {
      const { id, email } = await accounts.find(who)
      await confirm(invocation, `Delete the account ${email} (${id}) with its keys, tokens and sessions?`)
      return accounts.remove(id)
    })
    printData(invocation, { id: account.id }, [`Account ${account.id} (${account.email}) deleted.`])
    return 0
  },
}

function lifetimeText({ portal }: Config): string {
  return spanText(portal.setupLinkLifetimeMs)
}

async function setupUrlOf({ setupLinks }: Operator, { id }: Account): Promise<string> {
  return (await setupLinks.create(id)).url
}

export const accountCommands: readonly Command[] = [
  create,
  listAccountsCommand,
  show,
  update,
  setupLink,
  unlinkAccount,
  resetSecondFactorCommand,
  remove,
]
