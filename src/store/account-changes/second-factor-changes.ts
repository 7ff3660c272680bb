import type { Account } from '../account.ts'
import type { SecondFactor, SecondFactorUse } from '../second-factor.ts'
import { nextRevision } from './account-changes.ts'

/**
 * What each verb turns an account into; undefined = refused. Both adapters save the result only if the account has not
 * changed since: so a code works only once, even if it is used twice at the same moment.
 */

export function withSecondFactor(account: Account, factor: SecondFactor): Account | undefined {
  return account.portal.secondFactor === undefined ? nextFactor(account, factor) : undefined
}

export function withUsedFactor(account: Account, use: SecondFactorUse): Account | undefined {
  const factor = account.portal.secondFactor
  if (!factor) return undefined
  if (use.kind === 'step')
    return use.step > factor.lastStep ? nextFactor(account, { ...factor, lastStep: use.step }) : undefined
  const left = factor.recoveryDigests.filter((digest) => digest !== use.digest)
  return left.length < factor.recoveryDigests.length
    ? nextFactor(account, { ...factor, recoveryDigests: left })
    : undefined
}

export function withRecoveryCodes(account: Account, recoveryDigests: readonly string[]): Account | undefined {
  const factor = account.portal.secondFactor
  return factor && nextFactor(account, { ...factor, recoveryDigests })
}

export function withoutSecondFactor(account: Account): Account | undefined {
  return account.portal.secondFactor && nextFactor(account, undefined)
}

function nextFactor(account: Account, secondFactor: SecondFactor | undefined): Account {
  return nextRevision(account, { portal: { ...account.portal, secondFactor } })
}
