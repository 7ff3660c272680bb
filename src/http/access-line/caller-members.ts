import { memoizeBounded } from '../../platform/memoize.ts'
import { type Outcome, principalOf } from '../outcome.ts'
import { frequentBounds, frequentMember, jsonMember } from './members.ts'

/** The members that say who called, which upstream responded, and how it ended. */
export class CallerMembers {
  readonly #scheme = frequentMember('scheme')
  readonly #upstream = frequentMember('upstream')
  readonly #lastOf = memoizeBounded(frequentBounds, createLastMembers)

  of(outcome: Outcome, isComplete: boolean): string {
    const { upstream, code, reason, decision } = outcome
    const accountId = principalOf(outcome)?.accountId ?? outcome.accountId
    if (accountId === undefined || code !== undefined || reason !== undefined)
      return this.#join(outcome, accountId, isComplete)
    const scheme = decision?.scheme
    const last = this.#lastOf(accountId)
    if (last.scheme !== scheme || last.upstream !== upstream || last.isComplete !== isComplete) {
      last.scheme = scheme
      last.upstream = upstream
      last.isComplete = isComplete
      last.text = flatten(this.#join(outcome, accountId, isComplete))
    }
    return last.text
  }

  #join({ upstream, code, reason, decision }: Outcome, accountId: string | undefined, isComplete: boolean) {
    const scheme = decision?.scheme
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

/** V8 joins a text anew each time it is written. IDs of foreign issuers need not be Latin-1. */
function flatten(text: string): string {
  return Buffer.from(text).toString()
}

/** What the last request of an account had, and its members. */
interface LastMembers {
  scheme: string | undefined
  upstream: string | undefined
  /** undefined = there was none */
  isComplete: boolean | undefined
  text: string
}

function createLastMembers(): LastMembers {
  return { scheme: undefined, upstream: undefined, isComplete: undefined, text: '' }
}
