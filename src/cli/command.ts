import { parseArgs } from 'node:util'
import type { ConfigInput } from '#config/load.ts'
import type { Environment } from '#config/secrets.ts'
import { suggest } from '#platform/text.ts'
import type { Output } from './output.ts'
import { redactTarget } from './redact.ts'

export interface Option {
  readonly multiple?: boolean
  /** One-letter alias. */
  readonly short?: string
  /** The placeholder for the value in the help: `FILE`; absent = it takes no value. */
  readonly value?: string
  readonly help: string
  /** All values that it takes, for completion; default: those that `value` lists, such as `true|false`. */
  readonly choices?: readonly string[]
}

/** A command, as main.ts finds it and as its help shows it. */
export interface Command {
  /** Such as `accounts create`. */
  readonly name: string
  /** What follows the name: `ID|EMAIL`; absent = nothing. */
  readonly operands?: readonly string[]
  readonly summary: string
  /** Command lines for a shell, at least one; `test/cli/examples.test.ts` runs each of them. */
  readonly examples: readonly string[]
  readonly options?: Readonly<Record<string, Option>>
  /** Whether it prints data, and therefore accepts --json; default: true. */
  readonly printsData?: boolean
  /** @param operands as many as it names. @returns the exit status; undefined = 0 */
  run(invocation: Invocation, ...operands: string[]): Promise<number | undefined>
}

/** One run of a command, with its arguments. */
export interface Invocation {
  readonly config: ConfigInput
  readonly asJson: boolean
  readonly terminal: Terminal
  text(option: string): string | undefined
  /** All values of an option that may be repeated. */
  texts(option: string): readonly string[]
  flag(option: string): boolean
}

/** The streams and the environment of a command. */
export interface Terminal {
  /** Standard output: for the requested data. */
  readonly out: Output
  /** Standard error: for everything else. */
  readonly err: Output
  /** Standard input, as bytes or text; default: the standard input of the process. */
  readonly input?: AsyncIterable<unknown>
  /** Default: the environment of the process. */
  readonly env?: Environment
}

/** Invalid usage of a command: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const commonOptions: Readonly<Record<string, Option>> = {
  config: {
    value: 'FILE',
    help: 'Config file; default $GATEHOUSE_CONFIG, else config/gateway.yaml.',
  },
  set: {
    multiple: true,
    value: 'OPTION=VALUE',
    help: 'Overrides an option of the config; may be repeated.',
  },
  help: { short: 'h', help: 'Shows this help.' },
}

const jsonOption: Readonly<Record<string, Option>> = { json: { help: 'Prints JSON.' } }

export function optionsOf({ options, printsData = true }: Command): Readonly<Record<string, Option>> {
  return { ...options, ...(printsData && jsonOption), ...commonOptions }
}

/** @throws UsageError for unknown and repeated options, and missing or extra operands */
export function parseInvocation(
  command: Command,
  args: readonly string[],
  terminal: Terminal,
): { readonly invocation: Invocation; readonly operands: string[]; readonly wantsHelp: boolean } {
  const { values, positionals, tokens } = parse(command, args)
  const wantsHelp = values.help === true
  if (!wantsHelp) {
    assertGivenOnce(command, tokens)
    assertOperands(command, positionals)
  }
  const text = (option: string) => {
    const value = values[option]
    return typeof value === 'string' ? value : undefined
  }
  const texts = (option: string) => {
    const given = values[option]
    return Array.isArray(given) ? given.map(String) : []
  }
  const { env } = terminal
  const config = { file: text('config'), settings: texts('set'), ...(env && { env }) }
  const flag = (option: string) => values[option] === true
  const invocation = { config, asJson: flag('json'), terminal, text, texts, flag }
  return { invocation, operands: positionals, wantsHelp }
}

function parse(command: Command, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(optionsOf(command)).map(([name, { value, short, multiple = false }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const)
      return [name, { type, multiple, ...(short !== undefined && { short }) }]
    }),
  )
  try {
    return parseArgs({
      args: escapeDashOperands(args, options),
      options,
      allowPositionals: true,
      strict: true,
      tokens: true,
    })
  } catch (error) {
    throw new UsageError(describeParseError(error, Object.keys(options)))
  }
}

/** The ID of a key may begin with a dash: only known one-letter options are read as options. */
function escapeDashOperands(
  args: readonly string[],
  options: Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>>,
): string[] {
  const takesText = (arg: string) =>
    Object.entries(options).some(
      ([name, { type, short }]) => type === 'string' && (arg === `--${name}` || arg === `-${short}`),
    )
  // The value of a one-letter option may follow directly: -HName: value.
  const isShort = (arg: string) =>
    Object.values(options).some(({ type, short }) =>
      type === 'string' ? short !== undefined && arg.startsWith(`-${short}`) : arg === `-${short}`,
    )
  const isOperand = args.map(
    (arg, index) => /^-[^-]/.test(arg) && !isShort(arg) && !takesText(args[index - 1] ?? ''),
  )
  const dashed = args.filter((_, index) => isOperand[index])
  const rest = args.filter((_, index) => !isOperand[index])
  return dashed.length === 0 || args.includes('--') ? [...args] : [...rest, '--', ...dashed]
}

/** The message of parseArgs, without its advice on positional arguments. */
function describeParseError(error: unknown, names: readonly string[]): string {
  if (!(error instanceof Error)) return String(error)
  const [message = ''] = error.message.split('. ')
  const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? []
  const meant = unknown === undefined ? undefined : suggest(unknown, names)
  return meant === undefined ? message : `${message}, did you mean "--${meant}"?`
}

/** Otherwise only the last of several values would count: `--scopes a --scopes b` is not a list. */
function assertGivenOnce(command: Command, tokens: ReturnType<typeof parse>['tokens']): void {
  const options = optionsOf(command)
  const given = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option' || token.value === undefined || options[token.name]?.multiple) continue
    if (given.has(token.name)) throw new UsageError(`--${token.name} may be given only once`)
    given.add(token.name)
  }
}

function assertOperands({ operands = [] }: Command, given: readonly string[]): void {
  if (given.length < operands.length) throw new UsageError(`${operands[given.length]} is missing`)
  if (given.length > operands.length) {
    throw new UsageError(`unexpected argument "${redactTarget(given[operands.length] ?? '')}"`)
  }
}

export function usageOf({ name, operands = [] }: Command): string {
  return ['gatehouse', name, ...operands, '[OPTIONS]'].join(' ')
}

/** How an option is written: `-H, --header LINE`. */
export function formsOf(name: string, { short, value }: Option): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value ? ` ${value}` : ''}`
}

/** How the program is run: in a checkout, whose sources run directly, or from a package. */
export const programWords = import.meta.url.endsWith('.ts') ? 'npm run -s gatehouse --' : 'gatehouse'
