import { createdData } from '#accounts/account-data.ts'
import { accountDefaults } from '#accounts/account-input.ts'
import type { Config } from '#config/config.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { spanText } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import { type Command, UsageError } from '../command.ts'
import { keepUnconfirmedKeys, type Operator, withOperator, withSealingOperator } from '../operator.ts'
import { assertKeysPrinted, fieldLines, printData, unprintedKeysHint } from '../print.ts'
import {
  accountLines,
  assertCanMail,
  mailLinkOption,
  passwordOption,
  profileOptions,
  readPassword,
  readProfile,
  setPassword,
  warnOfSimilarRole,
} from './account-options.ts'

export const createAccountCommand: Command = {
  name: 'accounts create',
  summary: 'Creates an account and prints its keys.',
  examples: [
    'gatehouse accounts create --email ada@example.com --role Admin --verified',
    'gatehouse accounts create --email bob@example.com --password-stdin < password.txt',
  ],
  options: {
    ...profileOptions,
    verified: { help: 'Marks the e-mail as verified.' },
    plan: { value: 'NAME|none', help: 'Plan of the config; default none.' },
    ...passwordOption,
    ...mailLinkOption,
  },
  run: async (invocation) => {
    const email = invocation.text('email')
    if (email === undefined) throw new UsageError('--email is missing')
    const input = {
      ...accountDefaults,
      ...readProfile(invocation),
      email,
      isVerified: invocation.flag('verified'),
    }
    const password = await readPassword(invocation, input)
    const isMailed = invocation.flag('mail-link')
    if (isMailed && password !== undefined)
      throw new UsageError('--mail-link and --password-stdin exclude each other')
    const { created, unconfirmed, failure, setupUrl, config } = await withSealingOperator(
      invocation.config,
      async (operator) => {
        if (isMailed) assertCanMail(operator)
        const { result: created, unconfirmed } = await keepUnconfirmedKeys(operator.accounts.create(input))
        const portalSetup: PortalSetup = unconfirmed
          ? {}
          : await setUpPortal(operator, created.account, { password, isMailed })
        return { created, unconfirmed, ...portalSetup, config: operator.config }
      },
    )
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
    const error = unconfirmed ?? failure
    if (error) throw error
    await assertKeysPrinted(invocation.terminal, 'the account exists, but its keys', unprintedKeysHint)
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
    else if (operator.config.portal.acceptsPasswords)
      return { setupUrl: (await operator.setupLinks.create(account.id)).url }
    return {}
  } catch (failure) {
    return { failure }
  }
}

export const setupLinkCommand: Command = {
  name: 'accounts setup-link',
  operands: ['ID|EMAIL'],
  summary: 'Creates a one-time link that sets a portal password; earlier links are revoked.',
  examples: [
    'gatehouse accounts setup-link ada@example.com',
    'gatehouse accounts setup-link ada@example.com --mail-link',
  ],
  options: mailLinkOption,
  run: async (invocation, who) => {
    const { made, account, lifetime } = await withOperator(invocation.config, async (operator) => {
      const { config, setupLinks, accounts } = operator
      assertAcceptsPasswords(config)
      const common = { account: await accounts.get(who), lifetime: lifetimeText(config) }
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
      return
    }
    const data = { setupUrl: made.url, expiresAt: new Date(made.expiresAt).toISOString() }
    printData(invocation, data, [
      made.url,
      `One-time link, valid for ${lifetime}; earlier links are revoked.`,
    ])
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

function lifetimeText({ portal }: Config): string {
  return spanText(portal.setupLinkLifetimeMs)
}
