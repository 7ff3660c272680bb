import { type Outcome, principalOf } from '../gate/outcome.ts'
import { frequentMember, jsonMember } from './members.ts'

/** The members that say who called, which upstream responded, and how it ended. */
export class CallerMembers {
  readonly #scheme = frequentMember('scheme')
  readonly #upstream = frequentMember('upstream')

  /** From the second request on that is admitted by one decision, and ends well, they are one text. */
  of(outcome: Outcome, isComplete: boolean): string {
    const { upstream, code, reason, decision } = outcome
    const isUsual = isComplete && code === undefined && reason === undefined
    if (!isUsual || decision?.kind !== 'allowed' || decision.principal === undefined)
      return this.#join(outcome, isComplete)
    if (decision.logged === undefined || decision.loggedUpstream !== upstream) {
      decision.logged = ''
      decision.loggedUpstream = upstream
      return this.#join(outcome, isComplete)
    }
    if (decision.logged === '') decision.logged = flatten(this.#join(outcome, isComplete))
    return decision.logged
  }

  #join(outcome: Outcome, isComplete: boolean): string {
    const { upstream, code, reason, decision } = outcome
    const scheme = decision?.scheme
    const accountId = principalOf(outcome)?.accountId ?? outcome.accountId
    return (
      (scheme === undefined ? '' : this.#scheme(scheme)) +
      jsonMember('accountId', accountId) +
      (upstream === undefined ? '' : this.#upstream(upstream)) +
      jsonMember('code', code) +
      jsonMember('reason', reason) +
      `"isComplete":${isComplete},`
    )
  }
}

/** In one piece: a joined text would be joined anew for each line. IDs of foreign issuers need not be Latin-1. */
function flatten(text: string): string {
  return Buffer.from(text).toString()
}
