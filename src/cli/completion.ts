import { shellWord } from '#platform/text.ts'
import { type Command, UsageError } from './command.ts'
import {
  type CommandWords,
  type Completion,
  type OptionWords,
  type Word,
  type Words,
  wordsOfCommands,
} from './completion-words.ts'
import { print } from './print.ts'

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

/** @param allCommands the commands of the program, this one included */
export const createCompletionCommand = (allCommands: () => Promise<readonly Command[]>): Command => ({
  name: 'completion',
  operands: ['bash|zsh|fish'],
  summary: 'Prints the completion of a shell, made from the commands of this version.',
  printsData: false,
  examples: [
    'eval "$(gatehouse completion bash)"',
    'gatehouse completion zsh > _gatehouse',
    'gatehouse completion fish > gatehouse.fish',
  ],
  run: async ({ terminal }, shell) => {
    if (!isShell(shell)) throw new UsageError(`no completion for "${shell}": it is one of bash, zsh, fish`)
    print(terminal, [shells[shell](wordsOfCommands(await allCommands()))])
  },
})

function isShell(name: string): name is keyof typeof shells {
  return Object.hasOwn(shells, name)
}

/** The completion of bash. It needs nothing but bash: not the package bash-completion. */
function bashCompletion({ first, groups, commands }: Words): string {
  return `# Completion of gatehouse for bash: eval "$(gatehouse completion bash)"
_gatehouse() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command=\${COMP_WORDS[1]} words='' options='' operand='' values=''
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W ${shellWord([...first.map(([word]) => word), '--help', '--version'].join(' '))} -- "$current"))
    return
  fi
  case $command in
${groups
  .map(
    ({ word, next }) => `    ${shellWord(word)}) words=${shellWord(next.map(([name]) => name).join(' '))} ;;`,
  )
  .join('\n')}
  esac
  if [[ -n $words && $COMP_CWORD -gt 2 && " $words " == *" \${COMP_WORDS[2]} "* ]]; then
    command="$command \${COMP_WORDS[2]}"
    words=''
  elif (( COMP_CWORD > 2 )); then
    words=''
  fi
  case $command in
${commands.map(bashCommand).join('\n')}
  esac
  case $values in
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); return ;;
    other) return ;;
    ?*) COMPREPLY=($(compgen -W "$values" -- "$current")); return ;;
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
    return
  fi
  case $operand in
    file) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$words $operand" -- "$current")) ;;
  esac
}
complete -F _gatehouse gatehouse`
}

function bashCommand({ name, options, operands }: CommandWords): string {
  const flags = options.flatMap(({ forms }) => forms)
  const values = options.flatMap(({ forms, value }) =>
    value ? [`${forms.join('|')}) values=${shellWord(bashWords(value))} ;;`] : [],
  )
  const operand = operands.map(bashWords).find((words) => words !== 'other') ?? ''
  return `    ${shellWord(name)})
      options=${shellWord(flags.join(' '))}
      operand=${shellWord(operand)}
      case $previous in ${values.join(' ')} esac ;;`
}

function bashWords({ kind, choices }: Completion): string {
  return kind === 'choice' ? choices.join(' ') : kind
}

/** The completion of zsh: to be evaluated, or as the file `_gatehouse` in a folder of `$fpath`. */
function zshCompletion({ first, groups, commands }: Words): string {
  return `#compdef gatehouse
# Completion of gatehouse for zsh: source <(gatehouse completion zsh), after compinit; or as _gatehouse in $fpath.
_gatehouse() {
  local command=$words[2] count=2
  local -a following
  if (( CURRENT == 2 )); then
    following=(${zshWords(first)} '--help:Shows the commands.' '--version:Prints the version.')
    _describe command following
    return
  fi
  case $command in
${groups.map(({ word, next }) => `    ${shellWord(word)}) following=(${zshWords(next)}) ;;`).join('\n')}
  esac
  if (( $#following )); then
    if (( CURRENT == 3 )); then
      _describe command following
    fi
    if (( CURRENT > 3 )) && (( \${following[(I)$words[3]:*]} )); then
      command="$command $words[3]"
      count=3
    fi
  fi
  # What is left are the options and operands of the command.
  words=("$words[1]" "\${(@)words[count + 1,-1]}")
  (( CURRENT -= count - 1 ))
  case $command in
${commands.map(zshCommand).join('\n')}
  esac
}
if [[ $funcstack[1] == _gatehouse ]]; then
  _gatehouse "$@"
else
  compdef _gatehouse gatehouse
fi`
}

function zshWords(words: readonly (readonly [string, string])[]): string {
  return words.map(([word, summary]) => shellWord(`${zshEscaped(word)}:${summary}`)).join(' ')
}

function zshCommand({ name, options, operands }: CommandWords): string {
  const specs = [
    ...options.flatMap(zshOption),
    ...operands.map((operand) => shellWord(`:${zshAction(operand)}`)),
  ]
  return `    ${shellWord(name)}) _arguments ${specs.join(' ')} ;;`
}

function zshOption({ forms, help, value }: OptionWords): readonly string[] {
  const text = `[${help.replaceAll(/[[\]\\:]/g, '\\$&')}]${value ? `:${zshAction(value)}` : ''}`
  return forms.map((form) => shellWord(`*${form}${text}`))
}

/** `message:action` of _arguments. */
function zshAction({ label, kind, choices }: Completion): string {
  const message = zshEscaped(label)
  if (kind === 'file') return `${message}:_files`
  return kind === 'choice' ? `${message}:(${choices.join(' ')})` : `${message}: `
}

function zshEscaped(text: string): string {
  return text.replaceAll(':', '\\:')
}

/** The completion of fish: to be sourced, or as a file in `~/.config/fish/completions`. */
function fishCompletion({ first, groups, commands }: Words): string {
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
  ...first.map((word) => fishWord('', word)),
  "complete -c gatehouse -n '__gatehouse_at' -l help -d 'Shows the commands.'",
  "complete -c gatehouse -n '__gatehouse_at' -l version -d 'Prints the version.'",
  ...groups.flatMap(({ word, next }) => next.map((one) => fishWord(word, one))),
  ...commands.flatMap((command) => fishCommand(command, commands)),
].join('\n')}`
}

function fishWord(first: string, [word, summary]: Word): string {
  const condition = shellWord(`__gatehouse_at ${first}`.trim())
  return `complete -c gatehouse -n ${condition} -a ${shellWord(word)} -d ${fishText(summary)}`
}

function fishCommand({ name, options, operands }: CommandWords, all: readonly CommandWords[]): string[] {
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
        ...(value ? [fishValue(value)] : []),
        `-d ${fishText(help)}`,
      ].join(' '),
    ),
    ...operands.flatMap((operand) => fishOperand(start, operand)),
  ]
}

function fishValue({ kind, choices }: Completion): string {
  if (kind === 'file') return '-r -F'
  return kind === 'choice' ? `-x -a ${shellWord(choices.join(' '))}` : '-x'
}

function fishOperand(start: string, { kind, choices }: Completion): readonly string[] {
  if (kind === 'file') return [`${start} -F`]
  return kind === 'choice' ? [`${start} -a ${shellWord(choices.join(' '))}`] : []
}

/** A text in single quotes, in which fish knows a backslash and a quote. */
function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
