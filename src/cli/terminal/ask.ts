import { OperatorError } from '#platform/errors/operator-error.ts'
import type { Invocation, Terminal } from '../command.ts'

/** Asks the person at the terminal. */
interface Asker {
  /** A line, as the terminal lets them edit it. */
  line(question: string): Promise<string>
  /** A line that is not shown while it is typed. */
  hidden(question: string): Promise<string>
  /** Afterwards the input no longer keeps the process running. */
  close(): void
}

const keys = { interrupt: '\u0003', end: '\u0004', erase: ['\u007f', '\b'], eraseLine: '\u0015' } as const

/** Whether somebody can be asked: standard input and standard error are both a terminal. */
export function isInteractive({ input, err }: Terminal): boolean {
  return input === undefined && err.isTTY === true && process.stdin.isTTY === true
}

/** @throws OperatorError from its functions where the input ends */
export function openAsker({ err }: Terminal): Asker {
  const input = process.stdin.setEncoding('utf8')
  let typed = ''
  let hasEnded = false
  let notify: (() => void) | undefined
  input.on('data', onData)
  input.on('end', onEnd)

  function onData(text: unknown): void {
    typed += String(text)
    notify?.()
  }

  function onEnd(): void {
    hasEnded = true
    notify?.()
  }

  async function character(): Promise<string> {
    while (typed === '') {
      if (hasEnded) throw new OperatorError('the input ended before all questions were answered')
      await new Promise<void>((resolve) => {
        notify = resolve
      })
    }
    const [first = ''] = typed
    typed = typed.slice(first.length)
    return first
  }

  async function line(question: string): Promise<string> {
    err.write(question)
    let text = ''
    for (;;) {
      const next = await character()
      if (next === '\n') return text.trim()
      text += next
    }
  }

  async function hidden(question: string): Promise<string> {
    // First, so that nothing typed is shown. Node restores the terminal when the process exits, even by a signal.
    input.setRawMode(true)
    err.write(question)
    try {
      return await readHidden()
    } finally {
      input.setRawMode(false)
      err.write('\n')
    }
  }

  async function readHidden(): Promise<string> {
    const text: string[] = []
    for (;;) {
      const next = await character()
      if (next === '\r' || next === '\n') return text.join('')
      if (next === keys.interrupt) interrupt()
      else if (next === keys.end) throw new OperatorError('nothing was entered')
      else if (next === keys.eraseLine) text.length = 0
      else if (keys.erase.some((key) => key === next)) text.pop()
      else text.push(next)
    }
  }

  /** As Ctrl-C does elsewhere: a shell sees that the command was interrupted. */
  function interrupt(): void {
    input.setRawMode(false)
    err.write('\n')
    process.kill(process.pid, 'SIGINT')
  }

  return {
    line,
    hidden,
    close: () => {
      input.off('data', onData)
      input.off('end', onEnd)
      input.pause()
    },
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
