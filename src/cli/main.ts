import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { readVersion } from '#platform/package.ts'
import { didYouMean } from '#platform/text.ts'
import { isStoreFailure } from '#store/store-health.ts'
import { type Command, parseInvocation, type Terminal, UsageError } from './command.ts'
import { allCommands, commandsOf } from './commands.ts'
import { commandHelp, generalHelp, usageOf } from './help.ts'
import { print, printToStderr } from './print.ts'
import { isReaderGone } from './terminal/output.ts'

const versionFlags: readonly string[] = ['--version', '-V']
const exitStatus = { done: 0, refused: 1, badUsage: 2 } as const

/** Runs the command that the arguments name. @returns the exit status */
export async function main(args: readonly string[], terminal: Terminal): Promise<number> {
  const status = await runArguments(args, terminal)
  await terminal.out.flushed?.()
  const { failure } = terminal.out
  // A reader that stops early has what it wanted.
  if (!failure || isReaderGone(terminal.out)) return status
  printToStderr(terminal, `gatehouse: cannot write to standard output: ${errorMessage(failure)}`)
  return exitStatus.refused
}

async function runArguments(args: readonly string[], terminal: Terminal): Promise<number> {
  if (args.length === 1 && versionFlags.includes(args[0] ?? '')) {
    print(terminal, [readVersion()])
    return exitStatus.done
  }
  if (args[0] === 'help') return runArguments([...args.slice(1), '--help'], terminal)
  const group = await commandsOf(args[0])
  const command = group.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
  return command ? runCommand(command, args, terminal) : printUsage(args, group, terminal)
}

async function runCommand(command: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const given = args.slice(command.name.split(' ').length)
    const { invocation, operands, wantsHelp } = parseInvocation(command, given, terminal)
    if (!wantsHelp) return (await command.run(invocation, ...operands)) ?? exitStatus.done
    print(terminal, [commandHelp(command)])
    return exitStatus.done
  } catch (error) {
    return report(error, command, terminal)
  }
}

/** Without a matching command: prints help if it was requested, else the command that was probably meant. */
async function printUsage(
  args: readonly string[],
  group: readonly Command[],
  terminal: Terminal,
): Promise<number> {
  const all = await allCommands()
  const wantsHelp = args.includes('--help') || args.includes('-h')
  const words = args.filter((word) => !word.startsWith('-'))
  // Help for an unknown command is an error too: scripts test by the exit status whether a command exists.
  if (wantsHelp && words.length <= (group.length > 0 ? 1 : 0)) {
    print(terminal, [group.length > 0 ? generalHelp(group, args[0]) : generalHelp(all)])
    return exitStatus.done
  }
  printToStderr(terminal, unknownCommandMessage(args, group, all))
  return exitStatus.badUsage
}

function unknownCommandMessage(
  args: readonly string[],
  group: readonly Command[],
  all: readonly Command[],
): string {
  const words = args.filter((word) => !word.startsWith('-'))
  if (words.length === 0) return generalHelp(all)
  if (words.length === 1 && group.length > 0) return generalHelp(group, words[0])
  const [first = '', second = '', ...rest] = args
  if (first.startsWith('-')) return commandFirst(first)
  const split = group.find(({ name }) => rest.some((word) => name === `${first} ${word}`))
  if (second.startsWith('-') && split) return commandFirst(second, split.name)
  const given = words.slice(0, group.length > 0 ? 2 : 1).join(' ')
  const names = all.flatMap(({ name }) => [name, name.split(' ')[0] ?? ''])
  return `gatehouse: unknown command "${given}"${didYouMean(given, names)}\n  See: gatehouse --help`
}

function commandFirst(option: string, name?: string): string {
  const words = ['gatehouse', ...(name === undefined ? [] : [name]), '--help']
  return `gatehouse: the command comes first, ${option} after it\n  See: ${words.join(' ')}`
}

function report(error: unknown, command: Command, terminal: Terminal): number {
  if (error instanceof UsageError) {
    const help = `Usage: ${usageOf(command)}\n  See: gatehouse ${command.name} --help`
    printToStderr(terminal, `gatehouse ${command.name}: ${error.message}\n  ${help}`)
    return exitStatus.badUsage
  }
  if (error instanceof OperatorError) {
    printToStderr(terminal, `gatehouse: ${error.message}${error.hint ? `\n  ${error.hint}` : ''}`)
    return exitStatus.refused
  }
  if (error instanceof GatehouseError && error.code !== 'internal') {
    const fields = (error.errors ?? []).map(({ field, message }) => `\n  ${field}: ${message}`)
    printToStderr(terminal, `gatehouse: ${describe(error)}${fields.join('')}`)
    return exitStatus.refused
  }
  throw error
}

function describe(error: GatehouseError): string {
  const { code, detail, title, cause } = error
  if (isStoreFailure(error, 'unconfirmed')) {
    return `the change is unconfirmed: ${errorMessage(cause)}\n  Once the store and its replicas are available again, check whether it was saved; if not, repeat it.`
  }
  if (isStoreFailure(error, 'lost', 'newer')) return errorMessage(cause)
  if (code === 'store-unavailable') {
    return `credential store unavailable: ${errorMessage(cause)}\n  See store in the config.`
  }
  // For a command it concerns its options or input, not a request.
  if (code === 'request-invalid') return 'invalid values:'
  return detail ?? title
}
