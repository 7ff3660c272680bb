import { shellWord } from '#platform/text.ts'
import { type CommandWords, type Completion, groupWords, nextWords } from './words.ts'

/** The completion of fish: to be sourced, or as a file in `~/.config/fish/completions`. */
export function fishCompletion(commands: readonly CommandWords[]): string {
  return `# Completion of gatehouse for fish: gatehouse completion fish | source
# Whether the words before the cursor are exactly these.
function __gatehouse_at
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end
# Whether they begin with these.
function __gatehouse_in
    set -l words (commandline -opc)
    set -l last (math (count $argv) + 1)
    test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
end
complete -c gatehouse -f
${[
  ...nextWords(commands).map(([word, summary]) => wordLine('', word, summary)),
  "complete -c gatehouse -n '__gatehouse_at' -l help -d 'Shows the commands.'",
  "complete -c gatehouse -n '__gatehouse_at' -l version -d 'Prints the version.'",
  ...groupWords(commands).flatMap((first) =>
    nextWords(commands, first).map(([word, summary]) => wordLine(first, word, summary)),
  ),
  ...commands.flatMap((command) => commandLines(command, commands)),
].join('\n')}`
}

function wordLine(first: string, word: string, summary: string): string {
  const condition = shellWord(`__gatehouse_at ${first}`.trim())
  return `complete -c gatehouse -n ${condition} -a ${shellWord(word)} -d ${fishText(summary)}`
}

function commandLines({ name, options, operands }: CommandWords, all: readonly CommandWords[]): string[] {
  // usage is a command, and the first word of another.
  const others = all.filter((other) => other.name.startsWith(`${name} `))
  const isThis = [`__gatehouse_in ${name}`, ...others.map((other) => `not __gatehouse_in ${other.name}`)]
  const start = `complete -c gatehouse -n ${shellWord(isThis.join('; and '))}`
  return [
    ...options.map(({ name: option, short, help, value }) =>
      [
        start,
        `-l ${option}`,
        ...(short === undefined ? [] : [`-s ${short}`]),
        ...(value ? [valueFlags(value)] : []),
        `-d ${fishText(help)}`,
      ].join(' '),
    ),
    ...operands.flatMap((operand) => operandLines(start, operand)),
  ]
}

function valueFlags({ kind, choices }: Completion): string {
  if (kind === 'file') return '-r -F'
  return kind === 'choice' ? `-x -a ${shellWord(choices.join(' '))}` : '-x'
}

function operandLines(start: string, { kind, choices }: Completion): readonly string[] {
  if (kind === 'file') return [`${start} -F`]
  return kind === 'choice' ? [`${start} -a ${shellWord(choices.join(' '))}`] : []
}

/** A text in single quotes, in which fish knows a backslash and a quote. */
function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
