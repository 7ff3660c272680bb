#!/usr/bin/env node
import { accountCommands } from './cli/accounts.ts'
import { checkCommand } from './cli/check.ts'
import { type Command, parseInvocation, UsageError } from './cli/command.ts'
import { configCommands } from './cli/config.ts'
import { commandHelp, generalHelp, usageOf } from './cli/help.ts'
import { importCommand } from './cli/import.ts'
import { keyCommands } from './cli/keys.ts'
import { print, printAside } from './cli/print.ts'
import { serveCommand } from './cli/serve.ts'
import { sessionCommands } from './cli/sessions.ts'
import { signingKeyCommands } from './cli/signing-keys.ts'
import { didYouMean } from './config/suggest.ts'
import { GatehouseError, OperatorError, reasonOf } from './errors.ts'
import { readVersion } from './version.ts'

const commands: readonly Command[] = [
  serveCommand,
  checkCommand,
  ...accountCommands,
  importCommand,
  ...keyCommands,
  ...sessionCommands,
  ...signingKeyCommands,
  ...configCommands,
]

const status = { done: 0, refused: 1, badUsage: 2 } as const

async function main(args: readonly string[]): Promise<number> {
  if (args.includes('--version') && args.length === 1) {
    print([readVersion()])
    return status.done
  }
  const command = findCommand(args)
  if (!command) return explainCommands(args)
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

function findCommand(args: readonly string[]): Command | undefined {
  return commands.find(({ name }) => name.split(' ').every((word, index) => args[index] === word))
}

function explainCommands(args: readonly string[]): number {
  const words = args.filter((word) => !word.startsWith('-'))
  const isGroup = commands.filter(({ name }) => name.startsWith(`${words[0]} `))
  if (args.includes('--help') || args[0] === 'help') {
    print([generalHelp(isGroup.length > 0 ? isGroup : commands)])
    return status.done
  }
  if (words.length === 0) printAside(generalHelp(commands))
  else {
    const given = words.slice(0, isGroup.length > 0 ? 2 : 1).join(' ')
    const names = commands.map(({ name }) => name)
    printAside(`gatehouse: unknown command "${given}"${didYouMean(given, names)}\n  See: gatehouse --help`)
  }
  return status.badUsage
}

function report(error: unknown, command: Command): number {
  if (error instanceof UsageError) {
    printAside(
      `gatehouse ${command.name}: ${error.message}\n  Usage: ${usageOf(command)}\n  See: gatehouse ${command.name} --help`,
    )
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
  if (code === 'store-unavailable')
    return `the store does not answer: ${reasonOf(cause)}\n  See store in the config.`
  return detail ?? title
}

process.exitCode = await main(process.argv.slice(2))
