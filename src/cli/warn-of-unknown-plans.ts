import type { Account } from '#store/account.ts'
import type { Invocation } from './command.ts'
import { printToStderr } from './print.ts'

/** Warns about plans that are no longer in the config: their accounts are not limited. */
export function warnOfUnknownPlans(
  invocation: Invocation,
  accounts: readonly Account[],
  known: readonly string[],
): void {
  const plans = createUnknownPlans(known)
  plans.add(accounts)
  plans.warn(invocation)
}

/** The same for accounts that are read page by page. */
export function createUnknownPlans(known: readonly string[]) {
  const counts = new Map<string, number>()
  return {
    add: (accounts: readonly Account[]): void => {
      for (const { plan } of accounts) {
        if (plan !== undefined && !known.includes(plan)) counts.set(plan, (counts.get(plan) ?? 0) + 1)
      }
    },
    warn: ({ terminal }: Pick<Invocation, 'terminal'>): void => {
      for (const [plan, count] of counts) {
        const who = count === 1 ? '1 account has' : `${count} accounts have`
        printToStderr(terminal, `warning: ${who} the plan "${plan}", which is not in the config: not limited`)
      }
    },
  }
}
