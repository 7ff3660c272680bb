import { OperatorError } from '#platform/errors/operator-error.ts'
import type { Operator } from '../operator.ts'

export const mailLinkOption = {
  'mail-link': { type: 'boolean', help: 'Mails the set-up link to the owner instead of printing it.' },
} as const

/** @throws OperatorError where no set-up link can be mailed */
export function assertCanMail({ setupLinks }: Pick<Operator, 'setupLinks'>): void {
  if (setupLinks.canMail) return
  throw new OperatorError('set-up links cannot be mailed', {
    hint: 'That needs mail in the config, and a portal that accepts passwords.',
  })
}
