import { type Command, type Option, optionsOf } from './command.ts'

/** The help page of one command. */
export function commandHelp(command: Command): string {
  const options = Object.entries(optionsOf(command)).map(
    ([name, option]) => [formsOf(name, option), option.help] as const,
  )
  return [
    `Usage: ${usageOf(command)}`,
    '',
    command.summary,
    '',
    'Options:',
    ...columns(options, helpWidthMax),
    '',
    'Examples:',
    ...command.examples.map((line) => `  ${line}`),
  ].join('\n')
}

/** How an option is written: `-H, --header LINE`. */
export function formsOf(name: string, { short, value }: Option): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value ? ` ${value}` : ''}`
}

/** The help page of all commands, or of those that begin with a word. */
export function generalHelp(commands: readonly Command[], word?: string): string {
  const program = word === undefined ? 'gatehouse' : `gatehouse ${word}`
  const rows = commands.map(({ name, operands = [], summary }) => {
    const own = word === undefined ? name : name.slice(word.length + 1)
    return [[own, ...operands].join(' '), summary] as const
  })
  return [
    `Usage: ${program} COMMAND [OPTIONS]`,
    '',
    'An authenticating reverse proxy: it authenticates and authorizes requests, and forwards those that are allowed.',
    '',
    'Commands:',
    ...columns(rows, helpWidthMax),
    '',
    `Run ${program} COMMAND --help for details. Exit status: 0 success, 1 failure, 2 usage error or forced stop.`,
  ].join('\n')
}

export function usageOf({ name, operands = [] }: Command): string {
  return ['gatehouse', name, ...operands, '[OPTIONS]'].join(' ')
}

/** A longer left column would leave a terminal too little room for the texts. */
const helpWidthMax = 32

/** Two columns, the second aligned. @param leftWidthMax texts that are wider do not move the second column */
export function columns(
  rows: readonly (readonly [string, string])[],
  leftWidthMax = Number.POSITIVE_INFINITY,
): string[] {
  const widths = rows.map(([left]) => left.length).filter((width) => width <= leftWidthMax)
  const width = Math.max(0, ...widths) + 2
  return rows.map(([left, right]) => `  ${left.padEnd(Math.max(width, left.length + 2))}${right}`.trimEnd())
}

/** How the program is run: in a checkout, whose sources run directly, or from a package. */
export const programWords = import.meta.url.endsWith('.ts') ? 'npm run -s gatehouse --' : 'gatehouse'
