import { type Command, commonOptions, formsOf, type Option, optionsOf, usageOf } from '#cli/command.ts'
import { allCommands } from '#cli/main.ts'

/** The manual page, from the same table as the help and the completion: roff for man(7). */
export async function manPage(): Promise<string> {
  const commands = await allCommands()
  return [
    '.TH GATEHOUSE 1 "" Gatehouse "User Commands"',
    // No hyphens and no wide spaces: commands and URLs stay as they are typed.
    '.nh',
    '.ad l',
    '.SH NAME',
    'gatehouse \\- authenticating reverse proxy',
    '.SH SYNOPSIS',
    '.B gatehouse',
    '.I COMMAND',
    '.RI [ OPTIONS ]',
    '.SH DESCRIPTION',
    'It authenticates and authorises requests, and forwards those that are allowed.',
    '.B gatehouse serve',
    'runs the gateway; the other commands prepare its config and manage its store, also beside running gateways.',
    '.SH OPTIONS',
    'Every command takes these:',
    ...optionLines(commonOptions),
    'Without a command:',
    ...itemLines('-V, --version', 'Prints the version.'),
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH EXIT STATUS',
    ...itemLines('0', 'Success.'),
    ...itemLines('1', 'Failure: such as a bad config, something that was not found, or a failed start.'),
    ...itemLines('2', 'Usage error or forced stop.'),
    '.SH ENVIRONMENT',
    ...itemLines('GATEHOUSE_CONFIG', 'The config file, where --config names none.'),
    ...itemLines(
      'GATEHOUSE__SECTION__OPTION',
      'Overrides an option of the config: GATEHOUSE__LISTEN__PORT=80 sets listen.port. --set takes precedence.',
    ),
    '',
  ].join('\n')
}

function commandLines(command: Command): readonly string[] {
  const own = Object.entries(optionsOf(command)).filter(([name]) => !Object.hasOwn(commonOptions, name))
  return [
    `.SS ${roff(command.name)}`,
    `.B ${roff(usageOf(command))}`,
    '.PP',
    roff(command.summary),
    ...optionLines(Object.fromEntries(own)),
    '.PP',
    command.examples.length === 1 ? 'Example:' : 'Examples:',
    '.PP',
    '.EX',
    ...command.examples.map(roff),
    '.EE',
  ]
}

function optionLines(options: Readonly<Record<string, Option>>): readonly string[] {
  return Object.entries(options).flatMap(([name, option]) => itemLines(formsOf(name, option), option.help))
}

function itemLines(term: string, text: string): readonly string[] {
  return ['.TP', `.B ${roff(term)}`, roff(text)]
}

/** A text as one line of roff, in ASCII: a dash stays the character that shells take, and no line is a request. */
function roff(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll("'", '\\(aq')
    .replaceAll(
      /[^ -~]/g,
      (letter) => `\\[u${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped
}
