import { type Command, UsageError } from '../command.ts'
import { print } from '../print.ts'
import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { wordsOfCommands } from './words.ts'
import { zshCompletion } from './zsh.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

/** @param allCommands the commands of the program, this one included */
export const createCompletionCommand = (allCommands: () => Promise<readonly Command[]>): Command => ({
  name: 'completion',
  operands: ['bash|zsh|fish'],
  summary: 'Prints the completion of a shell, made from the commands of this version.',
  printsData: false,
  examples: [
    'eval "$(gatehouse completion bash)"',
    'gatehouse completion zsh > _gatehouse',
    'gatehouse completion fish > gatehouse.fish',
  ],
  run: async ({ terminal }, shell) => {
    if (!isShell(shell)) throw new UsageError(`no completion for "${shell}": it is one of bash, zsh, fish`)
    print(terminal, [shells[shell](wordsOfCommands(await allCommands()))])
  },
})

function isShell(name: string): name is keyof typeof shells {
  return Object.hasOwn(shells, name)
}
