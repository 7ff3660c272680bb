import type { Account } from '../store/account.ts'
import type { Invocation } from './command.ts'
import { printToStderr } from './print.ts'

/** Warns about plans that are no longer in the config: their accounts are not limited. */
export function warnOfUnknownPlans(
  { terminal }: Invocation,
  accounts: readonly Account[],
  known: readonly string[],
): void {
  const counts = new Map<string, number>()
  for (const { plan } of accounts) {
    if (plan !== undefined && !known.includes(plan)) counts.set(plan, (counts.get(plan) ?? 0) + 1)
  }
  for (const [plan, count] of counts) {
    const who = count === 1 ? '1 account has' : `${count} accounts have`
    printToStderr(terminal, `warning: ${who} the plan "${plan}", which is not in the config: not limited`)
  }
}
