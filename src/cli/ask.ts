import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { Invocation, Terminal } from './command.ts'

/** Whether somebody can be asked: standard input and standard error are both a terminal. */
export function isInteractive({ input, err }: Terminal): boolean {
  return input === undefined && err.isTTY === true && process.stdin.isTTY === true
}

/** Asks the person at the terminal. @throws OperatorError from its functions where the input ends */
export function openAsker({ err }: Terminal) {
  let isHidden = false
  const shown = new Writable({
    write: (text, _encoding, done) => {
      if (!isHidden) err.write(String(text))
      done()
    },
  })
  // It edits lines, and keeps what is typed before it is asked for. A terminal is restored when it is closed.
  const reader = createInterface({
    input: process.stdin,
    output: Object.assign(shown, { columns: process.stderr.columns }),
    terminal: true,
    historySize: 0,
  })
  const lines = reader[Symbol.asyncIterator]()
  reader.on('SIGINT', () => {
    // As Ctrl-C does elsewhere: a shell sees that the command was interrupted.
    process.stdin.setRawMode(false)
    err.write('\n')
    process.kill(process.pid, 'SIGINT')
  })

  async function line(question: string): Promise<string> {
    reader.setPrompt(question)
    reader.prompt()
    const { done, value } = await lines.next()
    if (done) throw new OperatorError('the input ended before all questions were answered')
    return value
  }

  async function hidden(question: string): Promise<string> {
    err.write(question)
    isHidden = true
    try {
      return await line('')
    } finally {
      isHidden = false
      err.write('\n')
    }
  }

  return {
    /** As the terminal lets them edit it. */
    line: async (question: string) => (await line(question)).trim(),
    /** Not shown while it is typed. */
    hidden,
    /** Afterwards the input no longer keeps the process running. */
    close: () => reader.close(),
  }
}

export const yesOption = {
  yes: {
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
