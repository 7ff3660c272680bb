import { isRecord } from '#platform/json.ts'
import { printable } from '#platform/text.ts'

/** The path of an option: `['routes', 0, 'path']`. */
export type Path = readonly (string | number)[]

/** Where the value of an option comes from. Lines and columns count from 1. */
export type Source =
  | { readonly kind: 'file'; readonly file: string; readonly line: number; readonly column: number }
  | { readonly kind: 'env'; readonly name: string }
  /** Passed by the program that hosts Gatehouse. */
  | { readonly kind: 'app' }
  | { readonly kind: 'flag'; readonly text: string }
  | { readonly kind: 'default' }

/** One problem in the config, and its position. */
export interface Problem {
  readonly source: Source
  readonly path: Path
  readonly message: string
  /** What to do about it, if the message does not say so. */
  readonly hint?: string | undefined
}

/** Something that is allowed but probably not intended, and its option. */
export interface Warning extends Pick<Problem, 'path' | 'message' | 'hint'> {
  /** The source, if it differs from the option's. */
  readonly source?: Source
}

/** `routes[0].path`; the whole config is `(config)`. */
export function formatPath(path: Path): string {
  if (path.length === 0) return '(config)'
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('')
}

/** Whether a path is the same as another, or above it. */
export function isPathPrefix(prefix: Path, path: Path): boolean {
  return prefix.length <= path.length && prefix.every((part, index) => part === path[index])
}

/** The value at a path of a tree; undefined = there is none. */
export function valueAt(tree: unknown, path: Path): unknown {
  return path.reduce<unknown>((node, part) => {
    if (Array.isArray(node)) return typeof part === 'number' ? node[part] : undefined
    return isRecord(node) && Object.hasOwn(node, part) ? node[part] : undefined
  }, tree)
}

/** `config/gateway.yaml:12:5`, `$GATEHOUSE__LISTEN__PORT`, `--set listen.port`, `default`. */
export function formatSource(source: Source): string {
  switch (source.kind) {
    case 'file':
      return `${source.file}:${source.line}:${source.column}`
    case 'env':
      return `$${source.name}`
    case 'app':
      return 'config'
    case 'flag':
      return `--set ${source.text}`
    case 'default':
      return 'default'
    default:
      return source satisfies never
  }
}

/** `file:line:col  path: what is wrong: what to do`, one line. */
export function formatProblem({ source, path, ...texts }: Problem): string {
  return printable(`${formatSource(source)}  ${formatPath(path)}: ${problemText(texts)}`)
}

export function problemText({ message, hint }: Pick<Problem, 'message' | 'hint'>): string {
  return hint === undefined ? message : `${message}: ${hint}`
}

type Severity = 'error' | 'warning' | 'note'

/** A problem as plain JSON; file, line and column are null if the value does not come from a file. */
export function problemData({ source, path, message, hint }: Problem, severity: Severity) {
  const { file, line, column } = source.kind === 'file' ? source : nowhere
  const [wrong = '', suggestion = null] = message.split(/, (?=did you mean )/)
  return {
    source: formatSource(source),
    file,
    line,
    column,
    path: formatPath(path),
    message: wrong,
    hint: hint ?? suggestion,
    severity,
  }
}

const nowhere = { file: null, line: null, column: null }

/** How many problems are listed at most, as a whole file of them would fill logs and terminals. */
export const listedMax = 100

/** One line per problem; if there are very many, the first ones and how many more there are. */
export function listProblems(problems: readonly Problem[]): string[] {
  const lines = problems.slice(0, listedMax).map(formatProblem)
  const more = problems.length - lines.length
  return more === 0 ? lines : [...lines, `and ${more} more`]
}

/** A finding of the schema or of a rule; `at` says whether the name or the value of the option is wrong. */
export interface Finding {
  readonly path: Path
  readonly at: 'key' | 'value'
  readonly message: string
}
