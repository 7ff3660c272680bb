import { OperatorError } from '#platform/errors/operator-error.ts'
import type { Invocation } from '../command.ts'
import { isInteractive, openAsker } from './ask.ts'

export const yesOption = {
  yes: {
    type: 'boolean',
    short: 'y',
    help: 'Skips the confirmation prompt, which appears only on a terminal.',
  },
} as const

/**
 * Asks before something is deleted that cannot be restored. Only on a terminal: a script that calls the command has
 * decided already.
 * @throws OperatorError where the answer is not yes
 */
export async function confirm({ flag, terminal }: Invocation, question: string): Promise<void> {
  if (flag('yes') || !isInteractive(terminal)) return
  const asker = openAsker(terminal)
  try {
    const answer = await asker.line(`${question} [y/N] `)
    if (!/^y(?:es)?$/i.test(answer)) throw new OperatorError('not confirmed: nothing was changed')
  } finally {
    asker.close()
  }
}
