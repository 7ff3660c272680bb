import { type Command, type Option, optionsOf } from './command.ts'

/** What can be completed after `gatehouse`, for the scripts of all shells. */
export interface Words {
  readonly first: readonly Word[]
  /** The first words that others follow, with these. */
  readonly groups: readonly { readonly word: string; readonly next: readonly Word[] }[]
  readonly commands: readonly CommandWords[]
}

export type Word = readonly [word: string, summary: string]

/** What can be completed of a command. */
export interface CommandWords {
  /** One or two words. */
  readonly name: string
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

export function wordsOfCommands(commands: readonly Command[]): Words {
  const members = [...Map.groupBy(commands, ({ name }) => name.split(' ')[0] ?? '')].map(([word, own]) => {
    const next = own
      .filter(({ name }) => name !== word)
      .map(({ name, summary }): Word => [name.slice(word.length + 1), summary])
    const summary = own.find(({ name }) => name === word)?.summary ?? next.map(([name]) => name).join(', ')
    return { word, summary, next }
  })
  return {
    first: members.map(({ word, summary }) => [word, summary]),
    groups: members.filter(({ next }) => next.length > 0),
    commands: commands.map((command) => ({
      name: command.name,
      operands: (command.operands ?? []).map((label) => completionOf(label)),
      options: Object.entries(optionsOf(command)).map(([name, option]) => optionWords(name, option)),
    })),
  }
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
