import { type Command, type Option, optionsOf } from '../command.ts'

/** What can be completed of a command. */
export interface CommandWords {
  /** One or two words. */
  readonly name: string
  readonly summary: string
  readonly operands: readonly Completion[]
  readonly options: readonly OptionWords[]
}

export interface OptionWords {
  /** Without dashes. */
  readonly name: string
  readonly short: string | undefined
  /** How it is written: `--help` and `-h`. */
  readonly forms: readonly string[]
  readonly help: string
  /** undefined = it takes no value. */
  readonly value: Completion | undefined
}

/** What a value or an operand may be. */
export interface Completion {
  readonly label: string
  readonly kind: 'file' | 'choice' | 'other'
  /** Only of a choice. */
  readonly choices: readonly string[]
}

export function wordsOfCommands(commands: readonly Command[]): readonly CommandWords[] {
  return commands.map((command) => ({
    name: command.name,
    summary: command.summary,
    operands: (command.operands ?? []).map((label) => completionOf(label)),
    options: Object.entries(optionsOf(command)).map(([name, option]) => optionWords(name, option)),
  }))
}

function optionWords(name: string, { short, value, help, choices }: Option): OptionWords {
  const forms = [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]
  return { name, short, forms, help, value: value === undefined ? undefined : completionOf(value, choices) }
}

/** The placeholder says what it is: FILE or PATH; true|false lists the values; everything else is free. */
function completionOf(label: string, choices?: readonly string[]): Completion {
  if (choices) return { label, kind: 'choice', choices }
  if (label === 'FILE' || label === 'PATH') return { label, kind: 'file', choices: [] }
  if (/^[a-z0-9]+(?:\|[a-z0-9]+)+$/.test(label)) return { label, kind: 'choice', choices: label.split('|') }
  return { label, kind: 'other', choices: [] }
}

/** The words that may follow some first word, each with its summary; of no word: the first words. */
export function nextWords(
  commands: readonly CommandWords[],
  first?: string,
): readonly (readonly [word: string, summary: string])[] {
  if (first !== undefined) {
    return commands
      .filter(({ name }) => name.startsWith(`${first} `))
      .map(({ name, summary }) => [name.slice(first.length + 1), summary])
  }
  const groups = Map.groupBy(commands, ({ name }) => name.split(' ')[0] ?? '')
  return [...groups].map(([word, members]) => {
    const own = members.find(({ name }) => name === word)
    return [word, own?.summary ?? members.map(({ name }) => name.slice(word.length + 1)).join(', ')]
  })
}

/** First words that others follow. */
export function groupWords(commands: readonly CommandWords[]): readonly string[] {
  return [...new Set(commands.flatMap(({ name }) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : [])))]
}
