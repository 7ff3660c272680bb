import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { readVersion } from '#platform/package.ts'
import { didYouMean } from '#platform/text.ts'
import { isStoreFailure } from '#store/store-health.ts'
import {
  type Command,
  formsOf,
  optionsOf,
  parseInvocation,
  type Terminal,
  UsageError,
  usageOf,
} from './command.ts'
import { isReaderGone } from './output.ts'
import { print, printToStderr, twoColumns } from './print.ts'

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
  if (versionFlags.includes(args[0] ?? '') && args.every(isOption)) {
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
  const words = args.filter((word) => !isOption(word))
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
  const words = args.filter((word) => !isOption(word))
  if (args[0] === undefined) return generalHelp(all)
  if (words.length === 0) return all.some(takes(args[0])) ? commandFirst(args[0]) : unknownOption(args[0])
  if (words.length === 1 && group.length > 0) return generalHelp(group, words[0])
  const [first = '', second = '', ...rest] = args
  if (isOption(first)) return commandFirst(first)
  const split = group.find(({ name }) => rest.some((word) => name === `${first} ${word}`))
  if (isOption(second) && split) return commandFirst(second, split.name)
  const given = words.slice(0, group.length > 0 ? 2 : 1).join(' ')
  const names = all.flatMap(({ name }) => [name, name.split(' ')[0] ?? ''])
  return `gatehouse: unknown command "${given}"${didYouMean(given, names)}\n  See: gatehouse --help`
}

function isOption(word: string): boolean {
  return word.startsWith('-')
}

/** An option without the value in the same word, which may be a secret. */
function nameOf(option: string): string {
  const [name = ''] = option.split('=')
  return name
}

/** Whether a command takes an option, as it was written. */
function takes(option: string): (command: Command) => boolean {
  const given = nameOf(option)
  return (command) =>
    Object.entries(optionsOf(command)).some(
      ([name, { short }]) => given === `--${name}` || given === `-${short}`,
    )
}

function unknownOption(option: string): string {
  const name = nameOf(option)
  const hint = didYouMean(name, ['--help', '--version'])
  return `gatehouse: unknown option "${name}"${hint}\n  See: gatehouse --help; -V prints the version`
}

function commandFirst(option: string, name?: string): string {
  const words = ['gatehouse', ...(name === undefined ? [] : [name]), '--help']
  return `gatehouse: the command comes first, ${nameOf(option)} after it\n  See: ${words.join(' ')}`
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

function commandHelp(command: Command): string {
  const options = Object.entries(optionsOf(command)).map(
    ([name, option]) => [formsOf(name, option), option.help] as const,
  )
  return [
    `Usage: ${usageOf(command)}`,
    '',
    command.summary,
    '',
    'Options:',
    ...twoColumns(options, helpWidthMax),
    '',
    'Examples:',
    ...command.examples.map((line) => `  ${line}`),
  ].join('\n')
}

/** The help page of all commands, or of those that begin with a word. */
function generalHelp(commands: readonly Command[], word?: string): string {
  const program = word === undefined ? 'gatehouse' : `gatehouse ${word}`
  const rows = commands.map(({ name, operands = [], summary }) => {
    const own = word === undefined ? name : name.slice(word.length + 1)
    return [[own, ...operands].join(' '), summary] as const
  })
  return [
    `Usage: ${program} COMMAND [OPTIONS]`,
    '',
    'An authenticating reverse proxy: it authenticates and authorises requests, and forwards those that are allowed.',
    '',
    'Commands:',
    ...twoColumns(rows, helpWidthMax),
    '',
    `Run ${program} COMMAND --help for details. Exit status: 0 success, 1 failure, 2 usage error or forced stop.`,
  ].join('\n')
}

/** A longer left column would leave a terminal too little room for the texts. */
const helpWidthMax = 32

/** The commands by their first word. Only the commands of the given word are loaded, for a fast start. */
const groups: Readonly<Record<string, () => Promise<readonly Command[]>>> = {
  init: async () => [(await import('./init.ts')).initCommand],
  serve: async () => [(await import('./serve.ts')).serveCommand],
  check: async () => [(await import('./config-commands.ts')).checkCommand],
  explain: async () => [(await import('./explain/explain-command.ts')).explainCommand],
  accounts: async () => [
    ...(await import('./accounts/account-commands.ts')).accountCommands,
    (await import('./accounts/import-accounts.ts')).importCommand,
  ],
  keys: async () => (await import('./keys/key-commands.ts')).keyCommands,
  apply: async () => [(await import('./apply-command.ts')).applyCommand],
  sessions: async () => (await import('./session-commands.ts')).sessionCommands,
  subjects: async () => (await import('./subject-commands.ts')).subjectCommands,
  usage: async () => (await import('./usage-commands.ts')).usageCommands,
  events: async () => (await import('./event-commands.ts')).eventCommands,
  audit: async () => (await import('./audit-commands.ts')).auditCommands,
  'sealing-key': async () => (await import('./sealing-key-commands.ts')).sealingKeyCommands,
  'signing-keys': async () => (await import('./signing-key-commands.ts')).signingKeyCommands,
  store: async () => (await import('./store-commands.ts')).storeCommands,
  config: async () => (await import('./config-commands.ts')).configCommands,
  completion: async () => [(await import('./completion.ts')).createCompletionCommand(allCommands)],
}

/** All commands whose name begins with a word; none if it is unknown. */
export async function commandsOf(word: string | undefined): Promise<readonly Command[]> {
  const load = word !== undefined && Object.hasOwn(groups, word) ? groups[word] : undefined
  return load ? load() : []
}

/** Every command, in the order of the help. */
export async function allCommands(): Promise<readonly Command[]> {
  return (await Promise.all(Object.values(groups).map((load) => load()))).flat()
}
