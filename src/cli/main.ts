import { didYouMean } from '../config/suggest.ts'
import { GatehouseError, OperatorError, reasonOf } from '../errors.ts'
import { readVersion } from '../version.ts'
import { type Command, parseInvocation, UsageError } from './command.ts'
import { allCommands, commandsOf } from './commands.ts'
import { commandHelp, generalHelp, usageOf } from './help.ts'
import { print, printAside } from './print.ts'

const status = { done: 0, refused: 1, badUsage: 2 } as const

/** Runs the command that the arguments name. @returns the exit status */
export async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--version') && args.length === 1) {
    print([readVersion()])
    return status.done
  }
  const group = await commandsOf(args[0])
  const command = group.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
  return command ? runCommand(command, args) : explain(args, group)
}

async function runCommand(command: Command, args: readonly string[]): Promise<number> {
  try {
    const invocation = parseInvocation(command, args.slice(command.name.split(' ').length))
    if (invocation.wantsHelp) {
      print([commandHelp(command)])
      return status.done
    }
    return await command.run(invocation)
  } catch (error) {
    return report(error, command)
  }
}

/** There is no such command: help where that was asked for, else what was probably meant. */
async function explain(args: readonly string[], group: readonly Command[]): Promise<number> {
  const words = args.filter((word) => !word.startsWith('-'))
  const all = await allCommands()
  if (args.includes('--help') || args[0] === 'help') {
    print([generalHelp(group.length > 0 ? group : all)])
    return status.done
  }
  if (words.length === 0) printAside(generalHelp(all))
  else {
    const given = words.slice(0, group.length > 0 ? 2 : 1).join(' ')
    const names = all.flatMap(({ name }) => [name, name.split(' ')[0] ?? ''])
    printAside(`gatehouse: unknown command "${given}"${didYouMean(given, names)}\n  See: gatehouse --help`)
  }
  return status.badUsage
}

function report(error: unknown, command: Command): number {
  if (error instanceof UsageError) {
    const help = `Usage: ${usageOf(command)}\n  See: gatehouse ${command.name} --help`
    printAside(`gatehouse ${command.name}: ${error.message}\n  ${help}`)
    return status.badUsage
  }
  if (error instanceof OperatorError) {
    printAside(`gatehouse: ${error.message}${error.hint ? `\n  ${error.hint}` : ''}`)
    return status.refused
  }
  if (error instanceof GatehouseError && error.code !== 'internal') {
    const fields = (error.errors ?? []).map(({ field, message }) => `\n  ${field}: ${message}`)
    printAside(`gatehouse: ${describe(error)}${fields.join('')}`)
    return status.refused
  }
  throw error
}

function describe({ code, detail, title, cause }: GatehouseError): string {
  if (code === 'store-unavailable') {
    return `the store does not answer: ${reasonOf(cause)}\n  See store in the config.`
  }
  return detail ?? title
}
