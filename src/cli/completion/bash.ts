import { shellWord } from '#platform/text.ts'
import { type CommandWords, type Completion, groupWords, nextWords } from './words.ts'

/** The completion of bash. It needs nothing but bash: not the package bash-completion. */
export function bashCompletion(commands: readonly CommandWords[]): string {
  return `# Completion of gatehouse for bash: eval "$(gatehouse completion bash)"
_gatehouse() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local command=\${COMP_WORDS[1]} words='' options='' operand='' values=''
  COMPREPLY=()
  if (( COMP_CWORD == 1 )); then
    COMPREPLY=($(compgen -W ${shellWord([...nextWords(commands).map(([word]) => word), '--help', '--version'].join(' '))} -- "$current"))
    return
  fi
  case $command in
${groupWords(commands)
  .map((word) => groupArm(commands, word))
  .join('\n')}
  esac
  if [[ -n $words && $COMP_CWORD -gt 2 && " $words " == *" \${COMP_WORDS[2]} "* ]]; then
    command="$command \${COMP_WORDS[2]}"
    words=''
  elif (( COMP_CWORD > 2 )); then
    words=''
  fi
  case $command in
${commands.map(commandArm).join('\n')}
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

function groupArm(commands: readonly CommandWords[], word: string): string {
  const words = nextWords(commands, word).map(([next]) => next)
  return `    ${shellWord(word)}) words=${shellWord(words.join(' '))} ;;`
}

function commandArm({ name, options, operands }: CommandWords): string {
  const flags = options.flatMap(({ forms }) => forms)
  const values = options.flatMap(({ forms, value }) =>
    value ? [`${forms.join('|')}) values=${shellWord(wordsFor(value))} ;;`] : [],
  )
  const operand = operands.map(wordsFor).find((words) => words !== 'other') ?? ''
  return `    ${shellWord(name)})
      options=${shellWord(flags.join(' '))}
      operand=${shellWord(operand)}
      case $previous in ${values.join(' ')} esac ;;`
}

function wordsFor({ kind, choices }: Completion): string {
  return kind === 'choice' ? choices.join(' ') : kind
}
