import { shellWord } from '#platform/text.ts'
import { type CommandWords, type Completion, groupWords, nextWords, type OptionWords } from './words.ts'

/** The completion of zsh: to be evaluated, or as the file `_gatehouse` in a folder of `$fpath`. */
export function zshCompletion(commands: readonly CommandWords[]): string {
  return `#compdef gatehouse
# Completion of gatehouse for zsh: source <(gatehouse completion zsh), after compinit; or as _gatehouse in $fpath.
_gatehouse() {
  local command=$words[2] count=2
  local -a following
  if (( CURRENT == 2 )); then
    following=(${described(nextWords(commands))} '--help:Shows the commands.' '--version:Prints the version.')
    _describe command following
    return
  fi
  case $command in
${groupWords(commands)
  .map((word) => groupArm(commands, word))
  .join('\n')}
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
${commands.map(commandArm).join('\n')}
  esac
}
if [[ $funcstack[1] == _gatehouse ]]; then
  _gatehouse "$@"
else
  compdef _gatehouse gatehouse
fi`
}

function groupArm(commands: readonly CommandWords[], word: string): string {
  return `    ${shellWord(word)}) following=(${described(nextWords(commands, word))}) ;;`
}

function described(words: readonly (readonly [string, string])[]): string {
  return words.map(([word, summary]) => shellWord(`${escaped(word)}:${summary}`)).join(' ')
}

function commandArm({ name, options, operands }: CommandWords): string {
  const specs = [
    ...options.flatMap(optionSpecs),
    ...operands.map((operand) => shellWord(`:${actionOf(operand)}`)),
  ]
  return `    ${shellWord(name)}) _arguments ${specs.join(' ')} ;;`
}

function optionSpecs({ forms, help, value }: OptionWords): readonly string[] {
  const text = `[${help.replaceAll(/[[\]\\:]/g, '\\$&')}]${value ? `:${actionOf(value)}` : ''}`
  return forms.map((form) => shellWord(`*${form}${text}`))
}

/** `message:action` of _arguments. */
function actionOf({ label, kind, choices }: Completion): string {
  const message = escaped(label)
  if (kind === 'file') return `${message}:_files`
  return kind === 'choice' ? `${message}:(${choices.join(' ')})` : `${message}: `
}

function escaped(text: string): string {
  return text.replaceAll(':', '\\:')
}
