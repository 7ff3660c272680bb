import { accountData } from '#accounts/account-data.ts'
import { assertGoodPassword } from '#platform/secrets/passwords.ts'
import { confirm, yesOption } from '../ask.ts'
import { type Command, UsageError } from '../command.ts'
import { withOperator, withSealingOperator } from '../operator.ts'
import { printData } from '../print.ts'
import {
  accountLines,
  passwordOption,
  profileOptions,
  readChanges,
  readPassword,
  setPassword,
  warnOfSimilarRole,
} from './account-options.ts'
import { createAccountCommand, setupLinkCommand } from './create-account.ts'
import { createUnknownPlans, listAccountsCommand } from './list-accounts.ts'

const show: Command = {
  name: 'accounts show',
  operands: ['ID|EMAIL'],
  summary: 'Shows an account.',
  examples: ['gatehouse accounts show ada@example.com'],
  run: async (invocation, who) => {
    const { account, planNames } = await withOperator(invocation.config, async ({ accounts }) => {
      return { account: await accounts.get(who), planNames: accounts.planNames }
    })
    printData(invocation, accountData(account), accountLines(account))
    const unknownPlans = createUnknownPlans(planNames)
    unknownPlans.add([account])
    unknownPlans.warn(invocation)
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
    role: { value: 'R', help: 'Role, such as User or Admin.' },
    verified: { value: 'true|false', help: 'Whether the e-mail is verified.' },
    disabled: { value: 'true|false', help: 'Whether the account is disabled.' },
    plan: { value: 'NAME|none', help: 'Plan of the config, or none.' },
    ...passwordOption,
  },
  run: async (invocation, who) => {
    const changes = readChanges(invocation)
    const password = await readPassword(invocation)
    if (Object.keys(changes).length === 0 && password === undefined) {
      throw new UsageError('nothing to update: give at least one option')
    }
    const withKey = password === undefined ? withOperator : withSealingOperator
    const { account, routes } = await withKey(invocation.config, async (operator) => {
      const found = await operator.accounts.get(who)
      // All checks come first, and the password last: a rejected command has changed nothing.
      if (password !== undefined) assertGoodPassword(password, { ...found, ...changes })
      const isChanged = Object.keys(changes).length > 0
      const account = isChanged ? await operator.accounts.update(found.id, changes) : found
      if (password !== undefined) await setPassword(operator, account, password)
      return { account, routes: operator.config.routes }
    })
    printData(invocation, accountData(account), ['Account updated:', ...accountLines(account)])
    warnOfSimilarRole(invocation, changes.role, routes)
  },
}

const resetSecondFactor: Command = {
  name: 'accounts reset-second-factor',
  operands: ['ID|EMAIL'],
  summary: 'Removes a second factor that its owner has lost.',
  examples: ['gatehouse accounts reset-second-factor ada@example.com'],
  run: async (invocation, who) => {
    const { account, wasReset } = await withOperator(invocation.config, async (operator) => {
      const account = await operator.accounts.get(who)
      return { account, wasReset: await operator.resetSecondFactor(account.id) }
    })
    const { id, email } = account
    const text = wasReset
      ? `The second factor of ${email} (${id}) is removed.`
      : `${email} (${id}) has no second factor.`
    printData(invocation, { id, wasReset }, [text])
  },
}

const unlink: Command = {
  name: 'accounts unlink',
  operands: ['ID|EMAIL'],
  summary: 'Unlinks an account from its owner at the OpenID provider; ends portal sessions.',
  examples: ['gatehouse accounts unlink ada@example.com'],
  run: async (invocation, who) => {
    const { account, wasLinked } = await withOperator(
      invocation.config,
      async ({ accounts, unlinkIdentities }) => {
        const account = await accounts.get(who)
        return { account, wasLinked: await unlinkIdentities(account.id) }
      },
    )
    const text = wasLinked ? 'is unlinked; its portal sessions have ended' : 'was not linked'
    printData(invocation, { id: account.id, wasLinked }, [
      `Account ${account.id} (${account.email}) ${text}.`,
    ])
  },
}

const remove: Command = {
  name: 'accounts delete',
  operands: ['ID|EMAIL'],
  summary: 'Deletes an account and revokes its keys, tokens and sessions.',
  examples: ['gatehouse accounts delete ada@example.com --yes'],
  options: yesOption,
  run: async (invocation, who) => {
    const account = await withOperator(invocation.config, async ({ accounts }) => {
      const { id, email } = await accounts.get(who)
      await confirm(invocation, `Delete the account ${email} (${id}) with its keys, tokens and sessions?`)
      return accounts.remove(id)
    })
    printData(invocation, { id: account.id }, [`Account ${account.id} (${account.email}) deleted.`])
  },
}

export const accountCommands: readonly Command[] = [
  createAccountCommand,
  listAccountsCommand,
  show,
  update,
  setupLinkCommand,
  unlink,
  resetSecondFactor,
  remove,
]
