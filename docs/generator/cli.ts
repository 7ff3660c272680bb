import { type Command, commonOptions, formsOf, type Option, usageOf } from '#cli/command.ts'
import { allCommands } from '#cli/main.ts'

/** Every command with its options and examples, from the same table as the help and the completion. */
export async function cliPage(): Promise<string> {
  const commands = await allCommands()
  return [
    '# The command line',
    '',
    '`gatehouse COMMAND --help` prints the same as this page. In a checkout write `npm run -s gatehouse --` for',
    '`gatehouse`. `gatehouse --version` (`-V`) prints the version. Exit status: 0 done; 1 refused (bad config, not found, failed start); 2 bad usage or a forced stop.',
    'What a terminal changes, large imports and CSV are explained under [Commands](operators/commands.md#on-a-terminal).',
    '',
    'Every command takes these options, and those that print data also take `--json`:',
    '',
    ...optionTable(commonOptions),
    '',
    ...commands.flatMap(section),
  ].join('\n')
}

function section(command: Command): readonly string[] {
  const { name, summary, options = {}, examples } = command
  return [
    `## ${name}`,
    '',
    `\`${usageOf(command)}\``,
    '',
    summary,
    '',
    ...(Object.keys(options).length > 0 ? [...optionTable(options), ''] : []),
    '```sh',
    ...examples,
    '```',
    '',
  ]
}

function optionTable(options: Readonly<Record<string, Option>>): readonly string[] {
  return [
    '| option | meaning |',
    '|---|---|',
    ...Object.entries(options).map(
      ([name, option]) => `| \`${escaped(formsOf(name, option))}\` | ${escaped(option.help)} |`,
    ),
  ]
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|')
}
