import type { Command } from '../command.ts'
import { withOperator } from '../operator.ts'
import { printData } from '../print.ts'

export const resetSecondFactorCommand: Command = {
  name: 'accounts reset-second-factor',
  operands: ['ID|EMAIL'],
  summary: 'Removes a second factor that its owner has lost.',
  examples: ['gatehouse accounts reset-second-factor ada@example.com'],
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { account, wasReset } = await withOperator(invocation.config, async (operator) => {
      const account = await operator.accounts.find(who)
      return { account, wasReset: await operator.secondFactor.reset(account.id) }
    })
    const { id, email } = account
    const text = wasReset
      ? `The second factor of ${email} (${id}) is removed.`
      : `${email} (${id}) has no second factor.`
    printData(invocation, { id, wasReset }, [text])
    return 0
  },
}

export const unlinkAccount: Command = {
  name: 'accounts unlink',
  operands: ['ID|EMAIL'],
  summary: 'Unlinks an account from its owner at the OpenID provider; ends portal sessions.',
  examples: ['gatehouse accounts unlink ada@example.com'],
  printsData: true,
  run: async (invocation) => {
    const [who = ''] = invocation.operands
    const { account, wasLinked } = await withOperator(
      invocation.config,
      async ({ accounts, identityLinks }) => ({
        account: await accounts.find(who),
        wasLinked: await identityLinks.unlink(who),
      }),
    )
    const text = wasLinked ? 'is unlinked; its portal sessions have ended' : 'was not linked'
    printData(invocation, { id: account.id, wasLinked }, [
      `Account ${account.id} (${account.email}) ${text}.`,
    ])
    return 0
  },
}
