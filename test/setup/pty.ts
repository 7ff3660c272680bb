import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { shellWord } from '#platform/text.ts'
import { until } from './net.ts'

// needs: script

/** A program on a terminal of its own. */
export interface OnTerminal {
  /** What the terminal has shown so far. */
  screen(): string
  /** Waits until the terminal shows something, after what an earlier call waited for. */
  shows(what: RegExp): Promise<void>
  /** Presses keys. */
  type(text: string): void
  /** Resolves with the exit status: 128 + n where signal n ended the program. */
  readonly ended: Promise<number | null>
}

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Starts a program on a real terminal, which `script` of util-linux provides; it is killed with the test. */
export function startOnTerminal(
  t: Test,
  words: readonly string[],
  { env = {}, cwd }: TerminalOptions = {},
): OnTerminal {
  const command = `stty cols 200 rows 50; exec ${words.map(shellWord).join(' ')}`
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent', SHELL: '/bin/sh', TERM: 'xterm', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(cwd !== undefined && { cwd }),
  })
  let screen = ''
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text
  })
  child.stdin.on('error', () => {})
  const ended = once(child, 'close').then(() => child.exitCode)
  // `script` passes it on; killed itself, it would leave a gateway behind, which takes the hang-up for a reload.
  t.teardown(() => {
    child.kill('SIGTERM')
  })

  async function shows(what: RegExp): Promise<void> {
    const end = await until(`the terminal shows ${what}`, () => {
      const match = what.exec(screen.slice(seen))
      return match ? seen + match.index + match[0].length : undefined
    })
    seen = end
  }

  return { screen: () => screen, shows, type: (text) => child.stdin.write(text), ended }
}
